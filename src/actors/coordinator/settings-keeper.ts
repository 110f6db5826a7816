// Changes settings while the broker runs, as tools ask for it, and keeps the changes over restarts.
import { isLive, type LiveName, liveFault, setLive } from '../../config/live.ts';
import { parseProperties } from '../../config/properties.ts';
import { aliases, specs } from '../../config/schema.ts';
import type { Settings } from '../../config/settings.ts';
import type { SettingValue, Spec } from '../../config/spec.ts';
import { allowedText, parseValue } from '../../config/validate.ts';
import { firstVersion, nextVersion } from '../../core/data-version.ts';
import type { DataVersion } from '../../protocol/bodies/data-version.ts';
import { ResponseCodes } from '../../protocol/codes.ts';
import type { StoredChange } from '../../store/changed-settings-file.ts';
import type { ActorContext } from '../context.ts';
import { badRequest, done, type Reply, refuse } from './request.ts';

/** Never changed by a tool: with them it could choose what it may change. */
const blackListed: ReadonlySet<string> = new Set(['brokerConfigPath', 'rocketmqHome', 'configBlackList']);

interface Change {
  readonly name: LiveName;
  readonly value: SettingValue;
}

export class SettingsKeeper {
  readonly #context: ActorContext;
  readonly #changes = new Map<string, StoredChange>();
  #version: DataVersion;
  #dirty = false;
  changeCount = 0;

  constructor(context: ActorContext) {
    this.#context = context;
    this.#version = firstVersion(context.boot.startedAtMs);
  }

  get dirty(): boolean {
    return this.#dirty;
  }

  get version(): DataVersion {
    return this.#version;
  }

  get changes(): ReadonlyMap<string, StoredChange> {
    return this.#changes;
  }

  saved(): void {
    this.#dirty = false;
  }

  /** Changes of earlier runs, but where the configuration has been changed since: it is the newer wish. */
  load(stored: ReadonlyMap<string, StoredChange> | null): void {
    const { liveWords, log, settings } = this.#context;
    for (const [name, change] of stored ?? []) {
      if (!isLive(name)) continue;
      setLive(liveWords, name, undefined);
      const parsed = parseValue(specs.get(name) as Spec, change.value);
      const configured = String(settings[name]);
      if (!parsed.ok || liveFault(name, parsed.value) !== null || configured !== change.insteadOf) {
        log.warn('a setting that a tool had changed is as configured again', { name, changed: change.value, configured });
        this.#dirty = true;
        continue;
      }
      this.#changes.set(name, change);
      setLive(liveWords, name, parsed.value);
      log.warn('a setting is as a tool has changed it, not as configured', { name, changed: change.value, configured });
    }
  }

  /** Properties text: all of it or nothing. */
  change(text: string): Reply {
    const asked = parseProperties(text);
    if (asked.length === 0) return badRequest('no setting was given as name=value');
    if (asked.some(({ name }) => this.#isBlackListed(name)))
      return refuse(ResponseCodes.NO_PERMISSION, 'Can not update config in black list.');
    const changes: Change[] = [];
    for (const { name, value } of asked) {
      const judged = this.#judge(aliases[name] ?? name, value);
      if (typeof judged === 'string') return badRequest(judged);
      if (judged !== null) changes.push(judged);
    }
    for (const change of changes) this.#apply(change);
    return done;
  }

  /** null: it is so already. */
  #judge(name: string, text: string): Change | string | null {
    const { settings } = this.#context;
    const spec = specs.get(name);
    if (spec === undefined) return `unknown setting "${name}"`;
    const parsed = parseValue(spec, text);
    if (!parsed.ok) return `${name}="${text}" must be ${allowedText(spec)}`;
    const now = Object.hasOwn(settings, name) ? settings[name as keyof Settings] : (settings.given[name] ?? spec.default);
    if (String(now) === String(parsed.value)) return null;
    if (spec.effect === 'accepted') return `${name} has no effect in RingMQ and is not kept`;
    if (!isLive(name)) return `${name} takes effect at a start only: set it in the configuration and restart the broker`;
    return liveFault(name, parsed.value) ?? { name, value: parsed.value };
  }

  #apply({ name, value }: Change): void {
    const { liveWords, settings, log, clock } = this.#context;
    const before = String(settings[name]);
    const insteadOf = this.#changes.get(name)?.insteadOf ?? before;
    if (insteadOf === String(value)) {
      this.#changes.delete(name);
      setLive(liveWords, name, undefined);
    } else {
      this.#changes.set(name, { value: String(value), insteadOf });
      setLive(liveWords, name, value);
    }
    this.#version = nextVersion(this.#version, clock.wallMs());
    this.#dirty = true;
    this.changeCount++;
    log.info('a tool changed a setting', { name, before, now: String(value) });
  }

  #isBlackListed(name: string): boolean {
    const more = this.#context.settings.configBlackList.split(';').map((word) => word.trim());
    return blackListed.has(name) || more.includes(name);
  }
}
