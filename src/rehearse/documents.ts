/**
 * Documents of a bot's application, without a service: opens the stream, and notes calls to other parties instead of
 * placing them. Nothing here can dial a number.
 */
import { textWithin } from '../agent/pipeline/bounded.ts';
import { fetchReason } from '../base/errors.ts';
import { withoutUserInfo } from '../base/mask.ts';
import {
  type Instruction,
  parseAnswerXml,
  type StreamInstruction,
} from '../protocol/answer-xml/answer-xml.ts';
import type { Observed } from './observed.ts';

const MAX_DOCUMENT_BYTES = 256 * 1024;
const LIMIT_MS = 15_000;
/** Maximum documents per call. */
const MAX_DOCUMENTS = 20;

export interface DocumentNeeds {
  readonly observed: Observed;
  readonly parameters: Readonly<Record<string, string>>;
  /** Runs the stream to its end. */
  stream(instruction: StreamInstruction): Promise<void>;
  /** Whether the caller has hung up. */
  isOver(): boolean;
}

/** Runs the documents from `url` on. Faults are added to the observations. */
export async function runDocuments(url: string, needs: DocumentNeeds): Promise<void> {
  const { observed } = needs;
  let next: string | undefined = url;
  for (let count = 0; next !== undefined && !needs.isOver(); count += 1) {
    if (count >= MAX_DOCUMENTS) {
      observed.faults.push(`more than ${MAX_DOCUMENTS} documents`);
      return;
    }
    const instructions = await fetchDocument(next, needs);
    if (typeof instructions === 'string') {
      observed.faults.push(instructions);
      return;
    }
    next = await runOne(instructions, needs);
  }
}

async function fetchDocument(
  url: string,
  { parameters }: DocumentNeeds,
): Promise<readonly Instruction[] | string> {
  try {
    const { target, headers } = withoutUser(url);
    const reply = await fetch(target, {
      method: 'POST',
      headers,
      body: new URLSearchParams(parameters),
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    if (!reply.ok) return `${withoutUserInfo(url)} responded with status ${reply.status}`;
    const text = await textWithin(reply, MAX_DOCUMENT_BYTES);
    const read = parseAnswerXml(text, { allowInsecureStreams: true });
    if (read.ok) return read.value;
    const { line, column, message } = read.error;
    return `${withoutUserInfo(url)}: line ${line}, column ${column}: ${message}`;
  } catch (error) {
    return `${withoutUserInfo(url)}: ${fetchReason(error)}`;
  }
}

/** User and password of the URL become Basic credentials. */
function withoutUser(url: string): {
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
} {
  const target = new URL(url);
  const { username, password } = target;
  if (username === '') return { target: url, headers: {} };
  Object.assign(target, { username: '', password: '' });
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const authorization = `Basic ${Buffer.from(user).toString('base64')}`;
  return { target: target.href, headers: { authorization } };
}

/** Returns the URL of the next document. */
async function runOne(
  instructions: readonly Instruction[],
  needs: DocumentNeeds,
): Promise<string | undefined> {
  const { observed } = needs;
  for (const instruction of instructions) {
    if (needs.isOver()) return undefined;
    switch (instruction.kind) {
      case 'stream':
        if (instruction.disclosure !== undefined) observed.serviceSpeaks(instruction.disclosure);
        await needs.stream(instruction);
        break;
      case 'speak':
        observed.serviceSpeaks(instruction.text);
        break;
      case 'dial':
        for (const destination of instruction.destinations) {
          const to = destination.kind === 'number' ? destination.number : destination.uri;
          observed.transfers.push(to);
          observed.note('transfer (not dialed)', to);
        }
        break;
      case 'redirect':
        return instruction.url;
      case 'hangup':
        observed.note('hangup');
        return undefined;
      default:
        observed.note(`element ${instruction.kind}`);
    }
  }
  return undefined;
}
