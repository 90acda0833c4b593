import type { AccountId, AppId } from '../../base/ids.ts';
import type { Page, Slice } from '../../base/page.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { checkedReferences, nowUs, type ProvisioningContext } from './context.ts';
import type { ApplicationFilter, ApplicationStore } from './needs.ts';
import type { Application, ApplicationPatch } from './types.ts';

export type NewApplication = Pick<Application, 'accountId' | 'name' | 'answerUrl'> &
  ApplicationPatch;

export type ApplicationRefusal =
  | { readonly kind: 'unknownApplication' }
  /** Numbers or endpoints are bound to the application, or it is the default of the account. */
  | { readonly kind: 'applicationInUse' };

/** Manages applications: the URLs that control calls. */
export class Applications {
  readonly #store: ApplicationStore;
  readonly #context: ProvisioningContext;

  constructor(store: ApplicationStore, context: ProvisioningContext) {
    this.#store = store;
    this.#context = context;
  }

  /** Creates an application. Without a hangup URL, the hangup is reported to the answer URL (dialect §3.2). */
  create(input: NewApplication): Promise<Application> {
    const now = nowUs(this.#context);
    return this.#store.insert({
      subAccount: undefined,
      answerMethod: 'POST',
      hangupUrl: input.answerUrl,
      hangupMethod: input.answerMethod ?? 'POST',
      fallbackAnswerUrl: '',
      fallbackMethod: 'POST',
      messageUrl: '',
      messageMethod: 'POST',
      defaultApp: false,
      defaultEndpointApp: false,
      enabled: true,
      logIncomingMessage: true,
      publicUri: false,
      callerId: undefined,
      agent: undefined,
      ...input,
      createdUs: now,
      updatedUs: now,
    });
  }

  async get(accountId: AccountId, appId: AppId): Promise<Result<Application, ApplicationRefusal>> {
    const found = await this.#store.get(appId);
    return found?.accountId === accountId ? ok(found) : err({ kind: 'unknownApplication' });
  }

  list(filter: ApplicationFilter, slice: Slice): Promise<Page<Application>> {
    return this.#store.list(filter, slice);
  }

  async patch(
    accountId: AccountId,
    appId: AppId,
    patch: ApplicationPatch,
  ): Promise<Result<Application, ApplicationRefusal>> {
    const changed = await this.#store.patch(accountId, appId, patch);
    return changed === undefined ? err({ kind: 'unknownApplication' }) : ok(changed);
  }

  /**
   * Deletes an application. `rebind` is the new application of its numbers and endpoints, or `null` for none. If
   * absent, bound ones refuse the deletion.
   */
  async remove(
    accountId: AccountId,
    appId: AppId,
    rebind?: AppId | null,
  ): Promise<Result<void, ApplicationRefusal>> {
    return checkedReferences(async () => {
      if (typeof rebind === 'number') {
        const target = await this.get(accountId, rebind);
        if (!target.ok) return target;
      }
      const removed = await this.#store.remove(accountId, appId, rebind);
      if (removed.ok) return removed;
      return err({
        kind: removed.error === 'inUse' ? 'applicationInUse' : 'unknownApplication',
      });
    });
  }
}
