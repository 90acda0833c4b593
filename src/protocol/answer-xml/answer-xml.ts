/**
 * Public interface of the answer XML parser. It turns a document into validated, typed instructions (spec "Answer-XML
 * instructions", dialect §2).
 */
import { err, ok, type Result } from '../../base/result.ts';
import { readResponse } from './element/element.ts';
import type { AnswerXmlOptions, Instruction, XmlProblem } from './instruction.ts';
import { DocumentRefused, Positions } from './problem.ts';
import { readTree } from './tree.ts';

export { ELEMENT_NAMES } from './element/element.ts';
export { SSML_ELEMENTS } from './element/prompt.ts';
export { referTarget } from './element/refer.ts';
export type * from './instruction.ts';

const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Parses a whole document before any instruction runs. `<Response/>` is valid and empty. Invalid content returns a
 * problem with its position and the expected content. Content without effect becomes a warning on its instruction.
 */
export function parseAnswerXml(
  text: string,
  options: AnswerXmlOptions,
): Result<readonly Instruction[], XmlProblem> {
  const document = text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
  const positions = new Positions(document);
  try {
    return ok(readResponse(readTree(document), { positions, options }));
  } catch (error) {
    if (!(error instanceof DocumentRefused)) throw error;
    const { line, column } = positions.at(error.offset);
    return err({
      fault: error.fault,
      line,
      column,
      message: error.message,
      expected: error.expected,
    });
  }
}
