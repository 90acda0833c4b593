import { Applications } from './applications.ts';
import { CallerIds } from './caller-ids.ts';
import { Carriers } from './carriers.ts';
import type { ProvisioningContext } from './context.ts';
import { type EndpointSettings, Endpoints } from './endpoints.ts';
import { MediaPolicies, type PolicyStore } from './media-policies.ts';
import type {
  ApplicationStore,
  CallerIdStore,
  CarrierStore,
  EndpointStore,
  IpAclStore,
  NumberStore,
  OriginationUriStore,
  TrunkCredentialStore,
  TrunkStore,
} from './needs.ts';
import { type NumberSettings, Numbers } from './numbers.ts';
import { Trunks } from './trunks.ts';

export type { ApplicationRefusal } from './applications.ts';

export type { CarrierRefusal, Carriers, NewCarrier } from './carriers.ts';
export {
  type EndpointRefusal,
  type Endpoints,
  type RevokedEndpoint,
  secretsOf,
} from './endpoints.ts';
export {
  type NamedPolicy,
  POLICY_SUBJECTS,
  type PolicyParties,
  type PolicyRefusal,
  SRTP_POLICIES,
} from './media-policies.ts';
export type { NumberRefusal, Numbers } from './numbers.ts';
export { headerProblem, isManaged } from './peer-headers.ts';
export { notifyRenewal } from './renewal-notices.ts';
export { carrierFormat, patternOf, ranked, WINDOW_PATTERN } from './routing.ts';
export type {
  TrunkRefusal,
  Trunks,
} from './trunks.ts';

export interface ProvisioningStores {
  readonly applications: ApplicationStore;
  readonly endpoints: EndpointStore;
  readonly trunks: TrunkStore;
  readonly originationUris: OriginationUriStore;
  readonly credentials: TrunkCredentialStore;
  readonly ipAcls: IpAclStore;
  readonly numbers: NumberStore;
  readonly carriers: CarrierStore;
  readonly callerIds: CallerIdStore;
  readonly settings: PolicyStore;
}

/** Resources that an account or the operator sets up before calls can run. */
export interface Provisioning {
  readonly applications: Applications;
  readonly endpoints: Endpoints;
  readonly trunks: Trunks;
  readonly numbers: Numbers;
  readonly carriers: Carriers;
  readonly callerIds: CallerIds;
  readonly mediaPolicies: MediaPolicies;
}

export type ProvisioningSettings = EndpointSettings & NumberSettings;

export function createProvisioning(
  stores: ProvisioningStores,
  context: ProvisioningContext,
  settings: ProvisioningSettings,
): Provisioning {
  return {
    applications: new Applications(stores.applications, context),
    endpoints: new Endpoints(stores, context, settings),
    trunks: new Trunks(stores, context),
    numbers: new Numbers(stores, context, settings),
    carriers: new Carriers(stores.carriers),
    callerIds: new CallerIds(stores.callerIds, context),
    mediaPolicies: new MediaPolicies(stores.settings),
  };
}
