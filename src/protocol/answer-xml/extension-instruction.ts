/** Instructions of elements that extend the dialect. */
import type { Sourced, WithAction, WithCallback } from './instruction-parts.ts';

/** Connects the caller with a colleague. The colleague can decline. An addition to the dialect. */
export interface TransferInstruction extends Sourced, WithAction, WithCallback {
  readonly kind: 'transfer';
  /** Number or SIP URI. */
  readonly to: string;
  readonly mode: 'blind' | 'attended' | 'warm';
  /** What happens to the bidirectional streams of the call when the parties are connected. */
  readonly stream: 'end' | 'caller' | 'colleague';
  readonly introduction: string | undefined;
  /** URL of audio for the waiting caller; undefined: music of the service. */
  readonly music: string | undefined;
  readonly callerId: string | undefined;
  readonly timeoutMs: number;
}

/** Asks the caller to agree to recordings and streams with a key. */
export interface ConsentInstruction extends Sourced, WithAction {
  readonly kind: 'consent';
  /** Question, as plain text. */
  readonly text: string;
  /** Question with SSML; undefined if it has no markup. */
  readonly ssml: string | undefined;
  readonly voice: string;
  readonly language: string;
  readonly key: string;
  /** Time for the answer after the question, in ms. */
  readonly timeoutMs: number;
  /** Effect of a refusal without `action`. */
  readonly onRefusal: 'hangup' | 'continue';
}
