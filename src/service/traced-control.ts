import type { AccountId, CallUuid } from '../base/ids.ts';
import { ok, type Result } from '../base/result.ts';
import type { CallLogEntry } from '../domain/call/types.ts';
import { type ControlNeeds, ControlService } from '../domain/dispatch/dispatch.ts';
import type { ControlRefusal } from '../domain/dispatch/types.ts';
import type { SipMessageTrace } from '../edge/rest/server.ts';

/** Live call control whose timelines include the SIP messages of the call as sent and received. */
export class TracedControl extends ControlService {
  readonly #messagesOf: (callUuid: CallUuid) => readonly SipMessageTrace[];

  constructor(needs: ControlNeeds, messagesOf: (callUuid: CallUuid) => readonly SipMessageTrace[]) {
    super(needs);
    this.#messagesOf = messagesOf;
  }

  override async callLog(
    accountId: AccountId,
    callUuid: CallUuid,
  ): Promise<Result<readonly CallLogEntry[], ControlRefusal>> {
    const log = await super.callLog(accountId, callUuid);
    if (!log.ok) return log;
    const entries = [...log.value, ...this.#messagesOf(callUuid).map(entryOf)];
    return ok(entries.sort((a, b) => a.atUs - b.atUs));
  }
}

function entryOf(message: SipMessageTrace): CallLogEntry {
  const { direction, transport, remote } = message;
  const [head = ''] = message.text.split('\r\n\r\n', 1);
  const [startLine = ''] = head.split('\r\n', 1);
  // The body of an INFO contains a pressed key, which a document may exclude from logs.
  const text = startLine.startsWith('INFO ') ? head : message.text;
  return {
    atUs: message.atUs,
    kind: 'sip',
    text: startLine,
    facts: { direction, transport, remote, message: text },
  };
}
