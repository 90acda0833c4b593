import type { DestinationGuard } from '../../base/egress.ts';
import type { DestinationGuard as Asked, Resolution, TargetQuery } from '../../protocol/sip/sip.ts';
import { AddressBook } from './address-book.ts';
import type { SipResolver } from './resolver.ts';
import type { SignallingOptions } from './signalling.ts';

/**
 * Resolves targets. For customers, it returns only allowed targets. It checks every request with the addresses that are
 * then used, so a changed DNS response has no effect.
 */
export class GuardedResolver {
  readonly book: AddressBook;
  readonly #resolver: SipResolver;
  readonly #egress: DestinationGuard;

  constructor(
    resolver: SipResolver,
    options: SignallingOptions,
    listensOn: (port: number) => boolean,
  ) {
    const { clock, egress } = options;
    this.#resolver = resolver;
    this.#egress = egress;
    this.book = new AddressBook({
      ...options,
      listensOn,
      resolve: (query) => resolver.resolve(query),
      monotonicMs: () => clock.monotonicMs(),
    });
  }

  /** Never rejects. */
  async resolve(query: TargetQuery, requested: Asked | undefined): Promise<Resolution> {
    const targets = await this.#resolver.resolve(query);
    if (requested === undefined || targets.length === 0) return { targets };
    await this.book.locateCarriers();
    const judged = targets.map((target) => ({
      target,
      why: this.#refusal(target, query, requested),
    }));
    const allowed = judged.filter(({ why }) => why === undefined).map(({ target }) => target);
    if (allowed.length > 0) return { targets: allowed };
    const { host } = query;
    const [first] = judged;
    const asName = first?.target.address === host ? '' : `${host}: `;
    return { targets: [], refusal: `${asName}${first?.why ?? 'it has no address'}` };
  }

  #refusal(
    { address, port }: { readonly address: string; readonly port: number },
    { host }: TargetQuery,
    { receivedAt, allow, carrier: namedBy }: Asked,
  ): string | undefined {
    const isPeer = receivedAt.some(
      (received) => received.address === address && received.port === port,
    );
    const carrier = isPeer ? undefined : this.book.carrierAt({ address, port, host });
    if (carrier !== undefined && carrier === namedBy) return undefined;
    if (carrier !== undefined) return `${address}:${port} is an address of carrier ${carrier}`;
    return this.#egress.refusesSip({ address, port, name: host, receivedAt, allow });
  }
}
