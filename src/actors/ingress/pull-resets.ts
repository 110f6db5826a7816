// Pulls of queues whose offset was reset: the first one of each connection is moved there, and the coordinator hears who knows of it.
import { ResetTellings } from '../../core/reset-tellings.ts';
import { ResponseCodes } from '../../protocol/codes.ts';
import type { PullRequest } from '../../protocol/commands/pull-message.ts';
import type { Header } from '../../protocol/header.ts';
import { type DirectoryReset, type GroupChange, Messages } from '../messages.ts';
import type { ClientConnection } from './client-connection.ts';
import type { Desk } from './desk.ts';
import { answerEmptyPull } from './empty-pull.ts';
import { type Ask, askOf } from './pending-asks.ts';

export class PullResets {
  readonly #desk: Desk;
  readonly #tellings = new ResetTellings();
  /** Resets that there are, by group. */
  readonly #epochs = new Map<string, ReadonlySet<number>>();

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  /** True where the pull was answered here. */
  moves(client: ClientConnection, header: Header, request: PullRequest, queueKey: number, resets: readonly DirectoryReset[]): boolean {
    const reset = resets.find(({ queueId, topic }) => queueId === request.queueId && topic === request.topic);
    if (reset === undefined) return false;
    const fate = this.#tellings.judge(reset, client.id, request.offset);
    if (fate === 'know') this.#report(reset, client, 1);
    if (fate !== 'tell') return false;
    this.#answer(askOf(client, header), reset, queueKey);
    return true;
  }

  /** Queues whose waiting pulls are to be moved, by key; null where there are none. */
  onGroup({ group, state }: GroupChange): ReadonlyMap<number, DirectoryReset> | null {
    const before = this.#epochs.get(group);
    const resets = state?.resets ?? null;
    if (resets === null) {
      if (before !== undefined) this.#forgetGroup(group);
      return null;
    }
    this.#epochs.set(group, new Set(resets.map(({ epoch }) => epoch)));
    this.#sweep();
    const fresh = resets.filter(({ epoch, kind, state: known }) => kind === 'pull' && known === 'open' && before?.has(epoch) !== true);
    if (fresh.length === 0) return null;
    return new Map(fresh.map((reset) => [this.#desk.directory.queueKey(reset.topic, reset.queueId), reset]));
  }

  /** Answers a pull that was asked for before the reset. */
  move(pull: Ask, reset: DirectoryReset, queueKey: number): void {
    // Only what it is told counts: a pull that was asked for before shows nothing.
    this.#tellings.tell(reset.epoch, pull.client.id);
    this.#answer(pull, reset, queueKey);
  }

  forget(client: ClientConnection): void {
    this.#tellings.forget(client.id);
  }

  #answer(ask: Ask, reset: DirectoryReset, queueKey: number): void {
    this.#report(reset, ask.client, 0);
    answerEmptyPull(this.#desk, ask, ResponseCodes.PULL_OFFSET_MOVED, 'OFFSET_RESET', reset.offset, queueKey);
  }

  #report(reset: DirectoryReset, client: ClientConnection, knows: 0 | 1): void {
    this.#desk.coordinator.send(Messages.resetPulled, [reset.epoch, client.id, knows]);
  }

  #forgetGroup(group: string): void {
    this.#epochs.delete(group);
    this.#sweep();
  }

  #sweep(): void {
    if (this.#tellings.size === 0) return;
    const there = new Set([...this.#epochs.values()].flatMap((epochs) => [...epochs]));
    this.#tellings.keep((epoch) => there.has(epoch));
  }
}
