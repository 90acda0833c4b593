/** Transfer by REFER: a party of a Dial replaces its other party (RFC 3515, 5589). */
import { ofTel } from '../../../base/phone-number.ts';
import type { DialDestination, DialInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import type { Call } from '../../call/call.ts';
import type { Refer } from '../../call/needs.ts';
import type { HangupCauseKey } from '../../call/types.ts';
import type { VerbContext } from '../needs.ts';
import { numberDestination, userDestination } from './destination.ts';
import { dialOf } from './dial-of.ts';

/** New party of the remaining leg, or the cause of the failure. */
export type ReferralOutcome =
  | { readonly ok: true; readonly leg: Call; readonly destination: DialDestination }
  | { readonly ok: false; readonly cause: HangupCauseKey };

/** Returns whether `who` may transfer by REFER. */
export function mayRefer(who: Call, { needs }: Pick<VerbContext, 'needs'>): boolean {
  const { referFrom } = needs.settings;
  if (referFrom === 'all') return true;
  return referFrom === 'endpoints' && who.identity.endpointId !== undefined;
}

/**
 * Connects the new party: places a call and waits for its answer, or takes the other party of an existing dialog.
 * Cancels the call if `retained`, the remaining party, hangs up, or if `withdrawn` is aborted. Never rejects.
 */
export async function bringParty(
  refer: Refer,
  instruction: DialInstruction,
  {
    retained,
    context,
    withdrawn,
  }: {
    readonly retained: Call;
    readonly context: VerbContext;
    /** Aborted when the remaining party leaves the Dial, for example to another document. */
    readonly withdrawn: AbortSignal;
  },
): Promise<ReferralOutcome> {
  const destination = destinationOf(refer, instruction);
  if (refer.replaces !== undefined) return takeOver(refer.replaces, destination, context);
  const { call: parent, needs } = context;
  let leg: Call | undefined;
  try {
    const made = await needs.dialer.dial({
      parent,
      destination,
      callerId: instruction.callerId,
      callerName: instruction.callerName,
      sipHeaders: [],
      isRepeated: false,
      referredBy: refer.referredBy,
      onLeg: (begun) => {
        leg = begun;
        const cancel = (): void => {
          if (!begun.isAnswered) begun.hangup('canceled', 'Caller');
        };
        void retained.ended.then(cancel);
        if (withdrawn.aborted) cancel();
        else withdrawn.addEventListener('abort', cancel, { once: true });
      },
    });
    if (!made.ok) return { ok: false, cause: made.error.cause };
    return await untilAnswered(made.value, destination, refer, instruction.timeoutMs, context);
  } catch (error) {
    needs.logger.error({ error, callUuid: parent.uuid }, 'call requested by REFER failed');
    leg?.hangup('internalError', 'Error');
    return { ok: false, cause: 'internalError' };
  }
}

function untilAnswered(
  leg: Call,
  destination: DialDestination,
  refer: Refer,
  timeoutMs: number,
  { needs: { clock } }: VerbContext,
): Promise<ReferralOutcome> {
  return new Promise((resolve) => {
    const cancel = clock.at(clock.monotonicMs() + timeoutMs, () =>
      leg.hangup('ringTimeout', 'Platform'),
    );
    const decide = (outcome: ReferralOutcome): void => {
      cancel();
      forget();
      resolve(outcome);
    };
    const answered = (): void => decide({ ok: true, leg, destination });
    const forget = leg.observe({ ringing: () => refer.ringing(), answered });
    if (leg.isAnswered) answered();
    void leg.ended.then(({ cause }) => decide({ ok: false, cause }));
  });
}

/** Takes the party from the Dial of the referring phone's other call. */
function takeOver(
  legId: string,
  destination: DialDestination,
  { call, needs }: VerbContext,
): ReferralOutcome {
  const other = needs.keeping.live().find((live) => live.legId === legId && !live.isEnded);
  const isOfAccount = other?.identity.accountId === call.identity.accountId;
  const leg = isOfAccount && other !== call ? dialOf(other)?.release() : undefined;
  if (leg === undefined) return { ok: false, cause: 'forbidden' };
  other?.hangup('normal', 'Caller', 'its party was transferred');
  return { ok: true, leg, destination };
}

function destinationOf({ to }: Refer, { line }: DialInstruction): DialDestination {
  const number = ofTel(to);
  if (number === to) return userDestination(to, line);
  return numberDestination(number.replaceAll(/[\s().-]/g, ''), line);
}
