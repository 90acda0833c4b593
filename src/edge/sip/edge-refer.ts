import type { LegEvents } from '../../domain/call/needs.ts';
import type { UserAgentInput, UserAgentOutput } from '../../protocol/sip/sip.ts';
import { hangupStatus } from './hangup-status.ts';

type Referred = Extract<UserAgentOutput, { kind: 'referred' }>;

/** Passes a REFER to the call of its leg, or refuses it if the call does not handle it. */
export function edgeRefer(
  { leg, refer, replaced }: Referred,
  events: LegEvents | undefined,
  dispatch: (input: UserAgentInput) => void,
): void {
  const { id, to, replaces, referredBy } = refer;
  const say = (kind: 'answerRefer' | 'notifyRefer', status: number): void =>
    dispatch({ kind, leg, refer: id, status });
  const refuse = (): void => say('answerRefer', 403);
  if (events?.referred === undefined) {
    refuse();
    return;
  }
  events.referred({
    to,
    replaces:
      replaces === undefined ? undefined : replaced === undefined ? 'unknown' : String(replaced),
    referredBy,
    accept: () => say('answerRefer', 202),
    refuse,
    ringing: () => say('notifyRefer', 180),
    succeeded: () => say('notifyRefer', 200),
    failed: (cause) => say('notifyRefer', hangupStatus(cause)),
  });
}
