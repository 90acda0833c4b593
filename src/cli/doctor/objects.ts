/** Object storage: whether an object can be written, measured and removed with the keys of the settings. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Settings } from '../../config/schema.ts';
import { type Finding, good, problem, reasonOf, skipped, within } from './finding.ts';

const CHECK = 'object storage';
/** Longer than other checks: what passes is asked for again. */
const LIMIT_MS = 20_000;

/** Never tells a key: the storage's own code is all that is repeated. */
export async function checkObjects({ s3 }: Settings): Promise<Finding> {
  if (s3.endpoint === '') return skipped(CHECK, 'none: recordings stay in the data folder');
  const { createS3Store } = await import('../../edge/objects/s3.ts');
  const folder = await mkdtemp(join(tmpdir(), 'carillon-doctor-'));
  const key = `doctor-${randomUUID()}`;
  try {
    const store = createS3Store(s3);
    const file = join(folder, 'probe');
    await writeFile(file, 'carillon doctor');
    await within(store.put(key, file), LIMIT_MS);
    const bytes = await within(store.size(key), LIMIT_MS);
    await within(store.remove(key), LIMIT_MS);
    if (bytes === undefined)
      return problem(CHECK, 'an object that was written is not there', adviceOn(''));
    return good(CHECK, `${new URL(s3.endpoint).host} keeps and removes what it is given`);
  } catch (error) {
    return problem(CHECK, reasonOf(error), adviceOn(reasonOf(error)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function adviceOn(reason: string): string {
  if (/SignatureDoesNotMatch|InvalidAccessKeyId|AuthorizationHeader/.test(reason))
    return 's3.accessKeyId, s3.secretAccessKey or s3.region is wrong.';
  if (/no such bucket/.test(reason))
    return 'Make the bucket, or correct s3.bucket and s3.endpoint.';
  if (/ 403/.test(reason))
    return 'The keys may not do that: allow PutObject, GetObject and DeleteObject in the bucket.';
  return 'Check host and port in s3.endpoint, and that the firewall lets it out.';
}
