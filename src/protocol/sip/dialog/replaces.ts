/** Finds the local dialog named in a Replaces header field (RFC 3891). */
import type { SipRequest } from '../message.ts';
import type { LegId, ReferFacts } from '../user-agent-types.ts';
import type { UserAgentCore } from './core.ts';
import { dialogId } from './dialog.ts';

interface Replaces {
  /** Dialog key in the local format. */
  readonly dialog: string;
  /** Same key with the two tags exchanged. */
  readonly turned: string;
  readonly earlyOnly: boolean;
}

function parseNamed(text: string) {
  const [callId = '', ...params] = text.split(';').map((part) => part.trim());
  const named = (name: string): string | undefined =>
    params.find((param) => param.toLowerCase().startsWith(`${name}=`))?.slice(name.length + 1);
  return { callId, params, named };
}

/** Key of the dialog in Target-Dialog. The sender's local tag is our remote tag (RFC 4538 §7). */
export function targetDialog(request: SipRequest): string | undefined {
  const { callId, named } = parseNamed(request.header('target-dialog') ?? '');
  const [theirs, ours] = [named('local-tag'), named('remote-tag')];
  return callId === '' || !theirs || !ours ? undefined : dialogId(callId, ours, theirs);
}

/** Returns undefined if the value is malformed. */
export function parseReplaces(text: string): Replaces | undefined {
  const { callId, params, named } = parseNamed(text);
  const [to, from] = [named('to-tag'), named('from-tag')];
  if (callId === '' || !to || !from) return undefined;
  const earlyOnly = params.some((param) => param.toLowerCase() === 'early-only');
  return { dialog: dialogId(callId, to, from), turned: dialogId(callId, from, to), earlyOnly };
}

/** Leg of the dialog that a REFER names in Replaces (RFC 3891 §3). */
export const replacedLeg = (
  core: UserAgentCore,
  { replaces }: Pick<ReferFacts, 'replaces'>,
): LegId | undefined => (replaces === undefined ? undefined : core.dialogs.get(replaces)?.leg);

/** Leg to be replaced by a new INVITE, or the status that refuses it (§3). Undefined without Replaces. */
export function replacedBy(
  core: UserAgentCore,
  request: SipRequest,
): { readonly leg: LegId } | { readonly status: number } | undefined {
  const [text, ...more] = request.headers('replaces');
  if (text === undefined) return undefined;
  const replaces = more.length > 0 ? undefined : parseReplaces(text);
  if (replaces === undefined) return { status: 400 };
  // Dialog events show the phone's tag as local (RFC 4235 §4.1.1). Phones disagree on whether that is the to-tag or the
  // from-tag of Replaces, so both orders are accepted.
  const found = core.dialogs.get(replaces.dialog) ?? core.dialogs.get(replaces.turned);
  if (found?.leg === undefined || found.stage === undefined) return { status: 481 };
  switch (found.stage) {
    case 'over':
      return { status: 603 };
    case 'confirmed':
      return replaces.earlyOnly ? { status: 486 } : { leg: found.leg };
    case 'early':
      return { leg: found.leg };
    case 'asked':
      // The dialog is an unanswered INVITE from another peer.
      return { status: 481 };
  }
}
