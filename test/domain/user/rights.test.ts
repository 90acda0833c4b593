import { describe, expect, it } from 'vitest';
import { isRoleOf, mayDo } from '../../../src/domain/user/rights.ts';
import type { Role } from '../../../src/domain/user/types.ts';

const ROLES: readonly Role[] = ['owner', 'operator', 'developer', 'viewer', 'billing'];

/** Roles that may make the request. */
const allowed = (method: string, tag: string, isCredential = false): readonly Role[] =>
  ROLES.filter((role) => mayDo(role, { method, tag, isCredential }));

describe('the roles that may', () => {
  it.each<[string, string, readonly Role[]]>([
    ['POST', 'Console', ROLES],
    ['GET', 'Users', ['owner']],
    ['DELETE', 'Users', ['owner']],
    ['GET', 'Calls', ['owner', 'operator', 'developer', 'viewer']],
    ['HEAD', 'Calls', ['owner', 'operator', 'developer', 'viewer']],
    ['POST', 'Calls', ['owner', 'operator', 'developer']],
    ['GET', 'Call records', ROLES],
    ['HEAD', 'Call records', ROLES],
    ['DELETE', 'Call records', ['owner', 'operator', 'developer']],
    ['GET', 'Ledger', ROLES],
    ['POST', 'Ledger', ['owner', 'operator', 'developer', 'billing']],
    ['PATCH', 'Operator: accounts', ['owner', 'operator', 'developer', 'billing']],
    ['DELETE', 'Operator: rates', ['owner', 'operator', 'developer', 'billing']],
  ])('%s in the section %s', (method, tag, roles) => {
    expect(allowed(method, tag)).toEqual(roles);
  });

  it('see credentials, but only the owner creates or changes them', () => {
    expect(allowed('GET', 'Account', true)).toEqual(ROLES);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      expect(allowed(method, 'Operator: accounts', true), method).toEqual(['owner']);
    }
  });
});

it('only staff has operators, and only customers have developers', () => {
  expect(ROLES.filter((role) => !isRoleOf(role, true))).toEqual(['developer']);
  expect(ROLES.filter((role) => !isRoleOf(role, false))).toEqual(['operator']);
});
