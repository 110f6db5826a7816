// What happens when an actor of each kind fails: who can be replaced, and whose failure means that the broker must stop in order.
import { Directives, type SupervisionRule } from './runtime/supervision.ts';
import type { ActorKind } from './topology.ts';

const patience = { failureCountMax: 5, windowMs: 60_000, delayMsMin: 50, delayMsMax: 5_000 };
const replaceable: SupervisionRule = { onFailure: Directives.restart, ...patience };
const replaceableTogether: SupervisionRule = { onFailure: Directives.restartGroup, ...patience };
const vital: SupervisionRule = { onFailure: Directives.stopBroker, ...patience };

export const supervisionRules: Record<ActorKind, SupervisionRule> = {
  // They share the listening socket: when one ends, its descriptor is closed for all.
  ingress: replaceableTogether,
  // What it had in hand may be half numbered; only a start from the files makes sure.
  'commit-log': vital,
  dispatch: vital,
  indexer: replaceable,
  flusher: vital,
  cleaner: replaceable,
  scheduler: replaceable,
  coordinator: vital,
  'name-server': replaceable,
};
