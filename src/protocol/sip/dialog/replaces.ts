/** Which dialog of ours a Replaces header field names (RFC 3891). */
import type { SipRequest } from '../message.ts';
import type { LegId, ReferFacts } from '../user-agent-types.ts';
import type { UserAgentCore } from './core.ts';
import { dialogId } from './dialog.ts';

interface Replaces {
  /** As the dialogs are kept. */
  readonly dialog: string;
  /** The same, told by its other side. */
  readonly turned: string;
  readonly earlyOnly: boolean;
}

function parseNamed(text: string) {
  const [callId = '', ...params] = text.split(';').map((part) => part.trim());
  const named = (name: string): string | undefined =>
    params.find((param) => param.toLowerCase().startsWith(`${name}=`))?.slice(name.length + 1);
  return { callId, params, named };
}

/** The dialog that Target-Dialog names, as dialogs are kept: what is local to its sender is remote to us (RFC 4538 §7). */
export function targetDialog(request: SipRequest): string | undefined {
  const { callId, named } = parseNamed(request.header('target-dialog') ?? '');
  const [theirs, ours] = [named('local-tag'), named('remote-tag')];
  return callId === '' || !theirs || !ours ? undefined : dialogId(callId, ours, theirs);
}

/** Undefined: it is malformed. */
export function parseReplaces(text: string): Replaces | undefined {
  const { callId, params, named } = parseNamed(text);
  const [to, from] = [named('to-tag'), named('from-tag')];
  if (callId === '' || !to || !from) return undefined;
  const earlyOnly = params.some((param) => param.toLowerCase() === 'early-only');
  return { dialog: dialogId(callId, to, from), turned: dialogId(callId, from, to), earlyOnly };
}

/** The leg of the dialog that a REFER names in Replaces (RFC 3891 §3). */
export const replacedLeg = (
  core: UserAgentCore,
  { replaces }: Pick<ReferFacts, 'replaces'>,
): LegId | undefined => (replaces === undefined ? undefined : core.dialogs.get(replaces)?.leg);

/** The leg whose place a new INVITE is to take, or the status that refuses it (§3); undefined: it asks for none. */
export function replacedBy(
  core: UserAgentCore,
  request: SipRequest,
): { readonly leg: LegId } | { readonly status: number } | undefined {
  const [text, ...more] = request.headers('replaces');
  if (text === undefined) return undefined;
  const replaces = more.length > 0 ? undefined : parseReplaces(text);
  if (replaces === undefined) return { status: 400 };
  // A lamp tells the phone's tag as local (RFC 4235 §4.1.1). Whether that is the to-tag depends on whom the INVITE is for: the phone, or
  // who calls it. It is us either way, and phones do it both ways.
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
      // Somebody else's INVITE that we have not answered.
      return { status: 481 };
  }
}
