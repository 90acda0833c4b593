import { describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/edge/log/pino-logger.ts';
import { prettyLine, prettyLines } from '../../../src/edge/log/pretty.ts';

const plain = (text: string): string => text.replace(/\u001b\[\d+m/g, '');

describe('log lines for terminals', () => {
  it('begin with time, level and call, and end with fields', () => {
    const lines: string[] = [];
    const logger = createLogger(
      'info',
      prettyLines((text) => lines.push(text)),
    );
    logger.warn({ callUuid: 'abc-1', carrier: 'main', why: 'no answer' }, 'carrier failed');
    expect(plain(lines.join(''))).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} WARN {2}abc-1 carrier failed carrier=main why="no answer"\n$/,
    );
  });

  it('show errors with their stack, mask secrets, and escape terminal control characters', () => {
    const lines: string[] = [];
    const logger = createLogger(
      'info',
      prettyLines((text) => lines.push(text)),
    );
    logger.error({ error: new Error('broken'), password: 'hunter2' }, 'failed');
    const text = plain(lines.join(''));
    expect(text).toContain('Error: broken\n    at ');
    expect(text).not.toContain('hunter2');
    expect(plain(prettyLine('{"level":"info","msg":"a\\u001b[2Jb","who":"x\\ny"}'))).toContain(
      'a\\x1b[2Jb who="x\\ny"',
    );
  });
});
