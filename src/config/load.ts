// Puts the settings together from defaults, a file, the environment and the command line, in that order.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { errorText, RingmqError } from '../base/errors.ts';
import { nearestName } from './nearest.ts';
import { parseProperties } from './properties.ts';
import { applyRules } from './rules.ts';
import { aliases, defaultDraft, specs } from './schema.ts';
import type { Draft, SettingName, Settings } from './settings.ts';
import type { SettingValue } from './spec.ts';
import { parseValue } from './validate.ts';

export interface LoadOptions {
  /** A `.properties` file with RocketMQ's names. */
  readonly file?: string;
  /** `name=value` texts of the command line; the last of a name counts. */
  readonly sets?: readonly string[];
  /** Value of `-n`. */
  readonly namesrvAddr?: string;
  /** Looked through for `RINGMQ_<NAME>`, in any case and with underscores where one likes. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** A name server on its own reads `listenPort` as its own port, as Apache's does; default broker. */
  readonly role?: 'broker' | 'nameServer';
}

export interface Loaded {
  readonly settings: Settings;
  /** One line each: settings without effect, doubtful values. */
  readonly warnings: readonly string[];
}

interface Given {
  readonly text: string;
  /** Where it was written, for messages. */
  readonly source: string;
}

const ENV_PREFIX = 'RINGMQ_';
/** Chooses what the tests run on, and so is often there. */
const NOT_A_SETTING = 'RINGMQ_BUILD';

function refuse(message: string): never {
  throw new RingmqError('config', message);
}

class Gathering {
  readonly given = new Map<string, Given>();
  readonly warnings: string[] = [];
  readonly #role: 'broker' | 'nameServer';

  constructor(role: 'broker' | 'nameServer') {
    this.#role = role;
  }

  add(written: string, text: string, source: string): void {
    let name = Object.hasOwn(aliases, written) ? (aliases[written] as string) : written;
    if (this.#role === 'nameServer' && name === 'listenPort') name = 'namesrvListenPort';
    if (!specs.has(name)) {
      const nearest = nearestName(written, specs.keys());
      refuse(`unknown setting "${written}" (${source})${nearest === undefined ? '' : `: did you mean "${nearest}"?`}`);
    }
    this.given.set(name, { text, source });
  }

  addFile(file: string): void {
    let content: string;
    try {
      content = readFileSync(file, 'utf8');
    } catch (error) {
      refuse(`settings file cannot be read: ${errorText(error)}`);
    }
    const seen = new Map<string, number>();
    for (const { name, value, line, lostBackslash } of parseProperties(content)) {
      const source = `${basename(file)} line ${line}`;
      this.add(name, value, source);
      const before = seen.get(name);
      if (before !== undefined) this.warnings.push(`${name} is written twice: line ${line} wins over line ${before} (${basename(file)})`);
      seen.set(name, line);
      if (lostBackslash && specs.get(name)?.kind === 'path') {
        this.warnings.push(`${name} was read as "${value}": write "\\\\" or "/" where a path has a backslash (${source})`);
      }
    }
  }

  addEnvironment(env: Readonly<Record<string, string | undefined>>): void {
    let names: Map<string, string> | undefined;
    for (const [variable, text] of Object.entries(env)) {
      if (!variable.startsWith(ENV_PREFIX) || variable === NOT_A_SETTING || text === undefined) continue;
      names ??= new Map([...specs.keys(), ...Object.keys(aliases)].map((name) => [name.toLowerCase(), name]));
      const name = names.get(variable.slice(ENV_PREFIX.length).replaceAll('_', '').toLowerCase());
      if (name === undefined) this.warnings.push(`environment variable ${variable} names no setting`);
      else this.add(name, text, `environment ${variable}`);
    }
  }

  addSet(text: string): void {
    const cut = text.indexOf('=');
    if (cut < 1) refuse(`--set "${text}" must be name=value`);
    this.add(text.slice(0, cut).trim(), text.slice(cut + 1), '--set');
  }

  finish(): Loaded {
    const draft: Record<string, SettingValue> = defaultDraft();
    for (const [name, { text, source }] of this.given) {
      const spec = specs.get(name);
      if (spec === undefined) continue;
      const parsed = parseValue(spec, text);
      if (!parsed.ok) refuse(`${name}="${text}" must be ${parsed.allowed} (${source})`);
      if (Object.hasOwn(draft, name)) draft[name] = parsed.value;
      if (spec.effect !== 'used' && parsed.value !== spec.default) {
        const why = spec.effect === 'later' ? 'belongs to a feature that RingMQ does not have yet' : 'has no effect in RingMQ';
        this.warnings.push(`${name} ${why}: ${spec.meaning} (${source})`);
      }
    }
    const typed = draft as unknown as Draft;
    applyRules({
      draft: typed,
      given: (name) => this.given.has(name),
      fail: (name: SettingName, must: string): never =>
        refuse(`${name}="${String(typed[name])}" must be ${must} (${this.given.get(name)?.source ?? 'default'})`),
      warn: (text) => this.warnings.push(text),
    });
    const texts: Record<string, string> = {};
    for (const [name, { text }] of this.given) texts[name] = text;
    return { settings: { ...typed, given: texts }, warnings: this.warnings };
  }
}

/** Throws RingmqError `config`, whose message is the one line to show. */
export function loadSettings(options: LoadOptions = {}): Loaded {
  const gathering = new Gathering(options.role ?? 'broker');
  if (options.file !== undefined) gathering.addFile(options.file);
  if (options.env !== undefined) gathering.addEnvironment(options.env);
  if (options.namesrvAddr !== undefined) gathering.add('namesrvAddr', options.namesrvAddr, '-n');
  for (const text of options.sets ?? []) gathering.addSet(text);
  return gathering.finish();
}

/** The same settings with some texts changed, all rules checked anew: for changes while the broker runs. */
export function changeSettings(settings: Settings, changes: Readonly<Record<string, string>>): Loaded {
  const gathering = new Gathering('broker');
  for (const [name, text] of Object.entries(settings.given)) gathering.add(name, text, 'start');
  for (const [name, text] of Object.entries(changes)) gathering.add(name, text, 'change');
  return gathering.finish();
}
