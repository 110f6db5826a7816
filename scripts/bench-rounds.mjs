// Rounds of systems that take turns (A B B A), each with a peer of its own on a fresh store: what bench:recover and bench:delay have in common.
import { appendFileSync, existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { commitOf } from './bench-broker.mjs';
import { inTemporaryFolder, root } from './bench-measure.mjs';
import { endAll, Peer } from './bench-peer.mjs';

export class Rounds {
  #peers = [];
  #count = 0;

  /** @param bench its name in lines. @param values of the options systems, dist, set, port, out. */
  constructor(bench, values, repeats) {
    this.bench = bench;
    this.values = values;
    this.repeats = repeats;
  }

  /** A peer with an empty store and ports of its own; it is ended with the measurement. */
  newPeer(folder, system, sync = false) {
    const { dist, set, port } = this.values;
    const store = join(folder, `${system}-${++this.#count}`);
    const peer = new Peer(system, store, Number(port) + 20 * (this.#count % 50), sync, { dist: resolve(root, dist), sets: set });
    this.#peers.push(peer);
    return peer;
  }

  /**
   * Measures all cells, and sets the exit code: 1 where a line was void, 2 where nothing could be measured.
   * @param cells name -> async (folder, system): a line's fields, null where the cell is not for this system.
   * @param table lines -> lines of text.
   */
  main(cells, table) {
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => endAll(this.#peers));
    inTemporaryFolder((folder) => this.#run(folder, cells, table)).then(
      (sound) => {
        process.exitCode = sound ? 0 : 1;
      },
      (error) => {
        process.stderr.write(`bench:${this.bench}: ${error.message}\n`);
        process.exitCode = 2;
      },
    );
  }

  async #run(folder, cells, table) {
    const { systems: wanted, dist } = this.values;
    const systems = wanted.split(',');
    if (systems.includes('ringmq') && !existsSync(resolve(root, dist, 'main.js')))
      throw new Error(`${dist}/main.js is not there: npm run build`);
    for (const system of systems) Peer.prepare(system);
    const lines = [];
    for (const [cell, measure] of Object.entries(cells)) {
      for (let repeat = 0; repeat < this.repeats; repeat++) {
        for (const system of repeat % 2 === 0 ? systems : [...systems].reverse()) {
          const result = await this.#measure(folder, system, measure);
          if (result !== null) lines.push(this.#say({ bench: this.bench, case: cell, system, repeat, ...result }));
        }
      }
    }
    process.stdout.write(`${table(lines).join('\n')}\n`);
    return lines.every((line) => !line.void);
  }

  async #measure(folder, system, measure) {
    let result;
    try {
      result = await measure(folder, system);
    } catch (error) {
      result = { void: true, failure: error.message };
    }
    await Promise.all(this.#peers.splice(0).map((peer) => peer.end(true)));
    rmSync(join(folder, `${system}-${this.#count}`), { recursive: true, force: true, maxRetries: 5 });
    return result;
  }

  #say(result) {
    const line = { ...result, commit: commitOf(root), node: process.version };
    const text = JSON.stringify(line);
    process.stdout.write(`${text}\n`);
    if (this.values.out !== undefined) appendFileSync(this.values.out, `${text}\n`);
    return line;
  }
}
