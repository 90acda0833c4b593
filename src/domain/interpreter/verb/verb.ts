/** Maps each element to its implementation. */
import { assertNever } from '../../../base/errors.ts';
import type { Instruction } from '../../../protocol/answer-xml/answer-xml.ts';
import { parametersOf } from '../call-callbacks.ts';
import type { VerbContext } from '../needs.ts';
import { NEXT, type VerbOutcome } from '../outcome.ts';
import { conference } from './conference.ts';
import { consent } from './consent.ts';
import { dial } from './dial.ts';
import { dtmf } from './dtmf.ts';
import { gather } from './gather.ts';
import { hangup } from './hangup.ts';
import { play } from './play.ts';
import { preAnswer } from './pre-answer.ts';
import { record } from './record.ts';
import { refer } from './refer.ts';
import { speak } from './speak.ts';
import { stream } from './stream.ts';
import { transfer } from './transfer.ts';
import { wait } from './wait.ts';

/** Executes one instruction. */
export async function execute(
  instruction: Instruction,
  context: VerbContext,
): Promise<VerbOutcome> {
  switch (instruction.kind) {
    case 'speak':
      return speak(instruction, context);
    case 'play':
      return play(instruction, context);
    case 'wait':
      return wait(instruction, context);
    case 'dtmf':
      return dtmf(instruction, context);
    case 'gather':
      return gather(instruction, context);
    case 'dial':
      return dial(instruction, context);
    case 'refer':
      return refer(instruction, context);
    case 'consent':
      return consent(instruction, context);
    case 'transfer':
      return transfer(instruction, context);
    case 'record':
      return record(instruction, context);
    case 'recordingSwitch':
      if (context.needs.recorder.pause(context.call, instruction.isPaused) === 0) {
        context.call.log.add('warning', 'no recording is running', { line: instruction.line });
      }
      return NEXT;
    case 'stream':
      return stream(instruction, context);
    case 'conference':
      return conference(instruction, context);
    case 'preAnswer':
      return preAnswer(instruction, context, execute);
    case 'hangup':
      return hangup(instruction, context);
    case 'redirect':
      return {
        kind: 'document',
        next: {
          via: 'redirect',
          target: { url: instruction.url, method: instruction.method },
          fallback: undefined,
          parameters: parametersOf(context.call, 'Redirect'),
        },
      };
    case 'message':
      context.call.log.add('warning', 'Message has no effect: messaging is not supported', {
        line: instruction.line,
      });
      return NEXT;
    default:
      return assertNever(instruction);
  }
}
