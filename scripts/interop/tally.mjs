// Counts what passed, failed and was skipped, over the kit's own sums and single checks of ours, and prints one line each.

export class Tally {
  passed = 0;
  failed = 0;
  skipped = 0;

  /** Runs one check; it fails by throwing, and what it returns goes into the line. */
  async check(name, run) {
    const start = performance.now();
    try {
      const seen = await run();
      this.passed++;
      console.log(`PASS ${name} (${seconds(start)} s)${typeof seen === 'string' ? ` ${seen}` : ''}`);
      return true;
    } catch (error) {
      this.failed++;
      console.log(`FAIL ${name}: ${error instanceof Error ? error.message : error}`);
      return false;
    }
  }

  skip(name, why) {
    this.skipped++;
    console.log(`SKIP ${name}: ${why}`);
  }

  /** @returns false where the text has no sum, as when a run was ended from outside. */
  add(sum) {
    this.passed += sum.passed;
    this.failed += sum.failed;
    this.skipped += sum.skipped;
  }

  get line() {
    return `${this.passed} passed, ${this.failed} failed, ${this.skipped} skipped`;
  }

  get ok() {
    return this.failed === 0 && this.passed > 0;
  }
}

export const seconds = (start) => ((performance.now() - start) / 1000).toFixed(1);

/** The last "N passed, N failed, N skipped" of a kit's output. */
export function sumOf(output) {
  const found = [...output.matchAll(/^(\d+) passed, (\d+) failed, (\d+) skipped$/gm)].at(-1);
  return found === undefined ? undefined : { passed: Number(found[1]), failed: Number(found[2]), skipped: Number(found[3]) };
}
