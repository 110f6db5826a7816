// The name server's settings: what it needs at start, what tools see of them, and what they may change while it runs.
import { errorText } from '../base/errors.ts';
import type { TextStore } from './text-store.ts';

/** Named as in the start-up settings, of which this is a part. */
export interface NameServerSettings {
  readonly bindAddress: string;
  /** 0 picks a free port. */
  readonly namesrvListenPort: number;
  readonly serverChannelMaxIdleTimeSeconds: number;
  readonly connectionCountMax: number;
  /** Unsent answers of one connection; above it is not read from. */
  readonly connectionMemoryMaxBytes: number;
  readonly scanNotActiveBrokerInterval: number;
  readonly needWaitForService: boolean;
  readonly waitSecondsForService: number;
  readonly orderMessageEnable: boolean;
  readonly returnOrderTopicConfigToBroker: boolean;
  readonly supportActingMaster: boolean;
  readonly deleteTopicWithBrokerRegistration: boolean;
  readonly enableAllTopicList: boolean;
  readonly enableTopicList: boolean;
  readonly clusterTest: boolean;
  readonly productEnvName: string;
  readonly notifyMinBrokerIdChanged: boolean;
  readonly kvConfigPath: string;
  readonly configStorePath: string;
  readonly configBlackList: string;
  readonly rocketmqHome: string;
}

export const defaultNameServerSettings: NameServerSettings = {
  bindAddress: '127.0.0.1',
  namesrvListenPort: 9876,
  serverChannelMaxIdleTimeSeconds: 120,
  connectionCountMax: 20_000,
  connectionMemoryMaxBytes: 32 * 1024 * 1024,
  scanNotActiveBrokerInterval: 5000,
  needWaitForService: false,
  waitSecondsForService: 3,
  orderMessageEnable: false,
  returnOrderTopicConfigToBroker: true,
  supportActingMaster: false,
  deleteTopicWithBrokerRegistration: false,
  enableAllTopicList: true,
  enableTopicList: true,
  clusterTest: false,
  productEnvName: 'center',
  notifyMinBrokerIdChanged: false,
  kvConfigPath: '',
  configStorePath: '',
  configBlackList: 'configBlackList;brokerConfigPath;configStorePath;kvConfigPath',
  rocketmqHome: '',
};

const names = Object.keys(defaultNameServerSettings) as (keyof NameServerSettings)[];

/** Take effect when they change; all others are only shown. */
const changeable = [
  'needWaitForService',
  'waitSecondsForService',
  'orderMessageEnable',
  'returnOrderTopicConfigToBroker',
  'supportActingMaster',
  'deleteTopicWithBrokerRegistration',
  'enableAllTopicList',
  'enableTopicList',
  'scanNotActiveBrokerInterval',
] as const;
type Changeable = (typeof changeable)[number];

/** Shown under another name, or limits of this server only. */
const hidden: readonly string[] = ['namesrvListenPort', 'connectionCountMax', 'connectionMemoryMaxBytes'];

export type ChangeResult = { readonly ok: true } | { readonly ok: false; readonly blackListed: boolean; readonly fault: string };

export class OwnSettings {
  #values: NameServerSettings;
  readonly #store: TextStore | undefined;
  /** Changes made while running, by name, in the order of their first change. */
  readonly #changes = new Map<string, string>();

  constructor(values: NameServerSettings, store?: TextStore) {
    this.#values = Object.fromEntries(names.map((name) => [name, values[name]])) as unknown as NameServerSettings;
    this.#store = store;
  }

  get values(): NameServerSettings {
    return this.#values;
  }

  /** Applies the changes of earlier runs; what no longer fits is left out. Returns the names left out. */
  load(): string[] {
    const text = this.#store?.load() ?? '';
    const refused: string[] = [];
    for (const [name, value] of propertiesOf(text)) if (!this.#apply(name, value)) refused.push(name);
    return refused;
  }

  /** Properties text of a tool: all of it or nothing. Names that mean nothing here are passed over, as stock servers do. */
  change(text: string): ChangeResult {
    const changes = propertiesOf(text);
    if (changes.length === 0) return { ok: false, blackListed: false, fault: 'no setting was given as name=value' };
    const black = new Set(this.#values.configBlackList.split(';').map((name) => name.trim()));
    for (const fixed of ['configBlackList', 'configStorePath', 'kvConfigPath']) black.add(fixed);
    if (changes.some(([name]) => black.has(name))) {
      return { ok: false, blackListed: true, fault: 'Can not update config in black list.' };
    }
    const before = this.#values;
    const changesBefore = new Map(this.#changes);
    const fault = this.#applyAll(changes);
    if (fault === undefined) return { ok: true };
    this.#values = before;
    this.#changes.clear();
    for (const [name, value] of changesBefore) this.#changes.set(name, value);
    return { ok: false, blackListed: false, fault };
  }

  /** All settings as `name=value` lines. */
  text(port: number): string {
    const shown = Object.entries(this.#values).filter(([name]) => !hidden.includes(name));
    shown.push(['listenPort', port], ['enableControllerInNamesrv', false]);
    const lines = shown.map(([name, value]) => propertyText(name, String(value)));
    return lines.sort().join('');
  }

  #applyAll(changes: readonly (readonly [string, string])[]): string | undefined {
    for (const [name, value] of changes) {
      if (isChangeable(name) && !this.#apply(name, value)) return `${name}="${value}" is not as allowed`;
    }
    try {
      this.#store?.save([...this.#changes].map(([name, value]) => propertyText(name, value)).join(''));
    } catch (error) {
      return `settings cannot be saved: ${errorText(error)}`;
    }
    return undefined;
  }

  #apply(name: string, value: string): boolean {
    if (!isChangeable(name)) return false;
    const parsed = typeof this.#values[name] === 'boolean' ? booleanOf(value) : wholeOf(value);
    if (parsed === undefined) return false;
    this.#values = { ...this.#values, [name]: parsed };
    this.#changes.set(name, value);
    return true;
  }
}

function isChangeable(name: string): name is Changeable {
  return (changeable as readonly string[]).includes(name);
}

function booleanOf(text: string): boolean | undefined {
  const word = text.toLowerCase();
  return word === 'true' ? true : word === 'false' ? false : undefined;
}

function wholeOf(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) && Number(text) > 0 ? Number(text) : undefined;
}

/** A backslash is the one character that a reader of the text would take for something else. */
function propertyText(name: string, value: string): string {
  return `${name}=${value.replaceAll('\\', '\\\\')}\n`;
}

/** Simple properties text, as tools send it: a name and a value a line. */
function propertiesOf(text: string): [string, string][] {
  const found: [string, string][] = [];
  for (const line of text.split(/\r?\n/)) {
    const match = /^\s*([^\s=:#!][^\s=:]*)\s*[=:]?\s*(.*?)\s*$/.exec(line);
    if (match !== null) found.push([match[1] as string, (match[2] as string).replaceAll(/\\(.)/g, '$1')]);
  }
  return found;
}
