/** Formats an error as one line for the operator. */
import { ApiError, ConnectionError } from '../../packages/client/src/client.ts';

export function sentenceOf(error: unknown): string {
  if (error instanceof ApiError && error.status === 401) {
    const secret = error.operation.includes(' /admin/') ? 'admin token' : 'credentials';
    return `the service refused the ${secret}`;
  }
  if (error instanceof ConnectionError) return `${error.message}: is it running? (npm start)`;
  // The text of `fetch` for a body that ended early.
  if (error instanceof TypeError && error.message === 'terminated')
    return 'the connection to the service broke during the transfer';
  return error instanceof Error ? error.message : String(error);
}
