/** NOTIFY bodies for a user (RFC 3680, 3842, 4235). */
import type { ContactBinding } from '../registrar/binding.ts';
import { secondsLeft } from '../registrar/register.ts';

export const EVENT_PACKAGES = ['dialog', 'message-summary', 'reg'] as const;
export type EventPackage = (typeof EVENT_PACKAGES)[number];

export const CONTENT_TYPES: Readonly<Record<EventPackage, string>> = {
  dialog: 'application/dialog-info+xml',
  'message-summary': 'application/simple-message-summary',
  reg: 'application/reginfo+xml',
};

/** A call of a user's phone from the phone's point of view. */
export interface PhoneDialog {
  readonly id: string;
  readonly direction: 'initiator' | 'recipient';
  readonly state: 'trying' | 'early' | 'confirmed' | 'terminated';
  /** Dialog identifiers, or undefined before the user's phone has responded. */
  readonly ids:
    | { readonly callId: string; readonly localTag: string; readonly remoteTag: string }
    | undefined;
  /** Remote party as a URI. */
  readonly remote: string;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};
/** Characters that XML 1.0 does not allow; they are removed. */
const UNSPEAKABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

const escaped = (text: string): string =>
  text.replace(UNSPEAKABLE, '').replace(/[&<>"']/g, (letter) => ESCAPES[letter] ?? letter);

const HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** Builds a dialog-info document with full state (RFC 4235 §4.1). */
export function dialogInfo(
  entity: string,
  version: number,
  dialogs: readonly PhoneDialog[],
): string {
  const idle: PhoneDialog = {
    id: 'idle',
    direction: 'initiator',
    state: 'terminated',
    ids: undefined,
    remote: entity,
  };
  // Some phones treat a document without dialogs as an unknown state, so an idle dialog is listed.
  const rows = (dialogs.length === 0 ? [idle] : dialogs).map(
    ({ id, direction, state, ids, remote }) => {
      const names =
        ids === undefined
          ? ''
          : ` call-id="${escaped(ids.callId)}" local-tag="${escaped(ids.localTag)}" remote-tag="${escaped(ids.remoteTag)}"`;
      const identity = `<identity>${escaped(remote)}</identity><target uri="${escaped(remote)}"/>`;
      const own = `<identity>${escaped(entity)}</identity><target uri="${escaped(entity)}"/>`;
      return `<dialog id="${escaped(id)}"${names} direction="${direction}"><state>${state}</state><local>${own}</local><remote>${identity}</remote></dialog>\n`;
    },
  );
  return `${HEAD}<dialog-info xmlns="urn:ietf:params:xml:ns:dialog-info" version="${version}" state="full" entity="${escaped(entity)}">\n${rows.join('')}</dialog-info>\n`;
}

/** Message summary; always empty, because there are no mailboxes. */
export const messageSummary = (account: string): string =>
  `Messages-Waiting: no\r\nMessage-Account: ${account}\r\nVoice-Message: 0/0 (0/0)\r\n`;

/** Builds a reginfo document with full state (RFC 3680 §5.2). */
export function regInfo(
  aor: string,
  version: number,
  { contacts, nowUs }: { readonly contacts: readonly ContactBinding[]; readonly nowUs: number },
): string {
  const rows = contacts.map((binding) => {
    const { contactUri, q, callId, cseq } = binding;
    const left = secondsLeft(binding, nowUs);
    return `<contact id="${hashOf(contactUri)}" state="active" event="registered" expires="${left}" q="${q}" callid="${escaped(callId)}" cseq="${cseq}"><uri>${escaped(contactUri)}</uri></contact>\n`;
  });
  const state = contacts.length > 0 ? 'active' : 'terminated';
  return `${HEAD}<reginfo xmlns="urn:ietf:params:xml:ns:reginfo" version="${version}" state="full">\n<registration aor="${escaped(aor)}" id="r1" state="${state}">\n${rows.join('')}</registration>\n</reginfo>\n`;
}

/** Stable ID of a contact in all documents (FNV-1a). */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1)
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return `c${(hash >>> 0).toString(16)}`;
}
