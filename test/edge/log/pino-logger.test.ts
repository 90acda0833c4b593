import { describe, expect, it } from 'vitest';
import { BugError, ServiceError } from '../../../src/base/errors.ts';
import { createLogger } from '../../../src/edge/log/pino-logger.ts';

function logged(level: string, write: (logger: ReturnType<typeof createLogger>) => void) {
  const lines: string[] = [];
  write(createLogger(level, { write: (line) => lines.push(line) }));
  return lines.map((line) => JSON.parse(line));
}

describe('the log', () => {
  it('writes message, stack and cause of an error', () => {
    const cause = new Error('disk is read-only');
    const error = new ServiceError('CONFLICT', 'the copy cannot be made', { cause });
    const [line] = logged('info', (logger) => logger.error({ error }, 'request failed'));
    expect(line).toMatchObject({ level: 'error', msg: 'request failed' });
    expect(line.error).toMatchObject({ code: 'CONFLICT' });
    expect(line.error.message).toContain('the copy cannot be made');
    expect(line.error.message).toContain('disk is read-only');
    expect(line.error.stack).toContain('pino-logger.test.ts');
  });

  it.each([
    ['a broken invariant', new BugError('x'), true],
    ['a fault of the code', new TypeError('x is undefined'), true],
    ['a fault of the environment', new ServiceError('STORE_FULL', 'x'), undefined],
    ['a system error', Object.assign(new Error('x'), { code: 'ENOSPC' }), undefined],
    ['a wrong argument to Node', Object.assign(new Error('x'), { code: 'ERR_INVALID_ARG' }), true],
    ['no error', undefined, undefined],
  ])('classifies only internal errors as bugs: %s', (_, error, bug) => {
    expect(logged('info', (logger) => logger.error({ error }, 'x'))[0].bug).toBe(bug);
  });

  it('writes a thrown value that is not an Error unchanged', () => {
    expect(logged('info', (logger) => logger.warn({ error: 'gone' }, 'x'))[0].error).toBe('gone');
  });

  it('never contains a secret field, at the top level or nested', () => {
    const [line] = logged('info', (logger) =>
      logger.info({ token: 's3cret', account: { authToken: 's3cret', authId: 'MA_X' } }, 'x'),
    );
    expect(JSON.stringify(line)).not.toContain('s3cret');
    expect(line.account.authId).toBe('MA_X');
  });

  it('masks passwords and tokens in URLs, including in errors and their causes', () => {
    const cause = new Error('GET https://bob:s3cret@host/?token=s3cret timed out');
    const error = Object.assign(new Error('not reached', { cause }), {
      url: 'wss://h/?api_key=s3cret',
    });
    const [line] = logged('info', (logger) =>
      logger.error({ cause: error, error, url: 'https://s3cret@h' }, 'at https://h/?key=s3cret'),
    );
    expect(JSON.stringify(line)).not.toContain('s3cret');
    expect(line.error.message).toContain('https://***@host/?token=***');
  });

  it('omits lines below the configured level', () => {
    const lines = logged('warn', (logger) => {
      logger.info({}, 'no');
      logger.child({ part: 'sip' }).warn({}, 'yes');
    });
    expect(lines).toMatchObject([{ msg: 'yes', part: 'sip' }]);
  });
});
