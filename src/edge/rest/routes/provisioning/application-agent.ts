/** Applications whose calls an agent answers, instead of a document. An addition to the dialect. */
import type { AccountId, AppId } from '../../../../base/ids.ts';
import { err, ok, type Result } from '../../../../base/result.ts';
import type { Application, ApplicationPatch } from '../../../../domain/provisioning/types.ts';
import type { RouteNeeds } from '../../deps.ts';
import { type Failure, failure, invalidField } from '../../http/failure.ts';

interface AgentFields {
  readonly application_type?: 'XML' | 'agent';
  readonly answer_url?: string | undefined;
  readonly answer_xml?: string;
  readonly hangup_url?: string;
  readonly agent?: unknown;
}

/** Definition as JSON; undefined: a document answers. */
type Agent = string | undefined;

/** Reads the fields of a new application. */
export function newAgent(
  needs: RouteNeeds,
  accountId: AccountId,
  body: AgentFields,
): Result<Agent, Failure> {
  const { agent = null, application_type: type } = body;
  if (agent === null)
    return type === 'agent' ? err(invalidField('agent', 'is required')) : ok(undefined);
  return definitionOf(needs, accountId, body);
}

/** Reads the fields of an update. The result has no field if the update does not concern the agent. */
export function agentPatch(
  needs: RouteNeeds,
  before: Application,
  body: AgentFields,
): Result<Pick<ApplicationPatch, 'agent' | 'answerUrl' | 'hangupUrl'>, Failure> {
  const { agent, application_type: type, answer_url: answerUrl } = body;
  const isAgent = before.agent !== undefined;
  if (agent === undefined && (type === undefined || (type === 'agent') === isAgent)) {
    if (!isAgent || answerUrl === undefined || answerUrl === before.answerUrl) return ok({});
    return err(invalidField('answer_url', 'cannot be changed while the application is an agent'));
  }
  if (agent === undefined && type === 'agent') return err(invalidField('agent', 'is required'));
  if (agent === undefined || agent === null) {
    if (answerUrl === undefined) return err(invalidField('answer_url', 'is required'));
    return ok({ agent: undefined, ...(isAgent && { hangupUrl: body.hangup_url || answerUrl }) });
  }
  const definition = definitionOf(needs, before.accountId, body);
  if (!definition.ok) return definition;
  const urls = isAgent ? {} : agentUrls(needs, before.appId, body.hangup_url);
  return ok({ agent: definition.value, ...urls });
}

/** Addresses of a new agent. */
export function agentUrls(
  { agents }: RouteNeeds,
  appId: AppId,
  hangupUrl: string | undefined,
): { readonly answerUrl: string; readonly hangupUrl: string } {
  const url = agents.urlOf(appId);
  return { answerUrl: `${url}/answer`, hangupUrl: hangupUrl || `${url}/hangup` };
}

function definitionOf(
  { agents }: RouteNeeds,
  accountId: AccountId,
  { agent, application_type: type, answer_url: answerUrl, answer_xml: xml }: AgentFields,
): Result<Agent, Failure> {
  if (type === 'XML') return err(invalidField('agent', 'needs application_type agent'));
  if (answerUrl !== undefined || xml !== undefined) {
    const field = xml === undefined ? 'answer_url' : 'answer_xml';
    return err(invalidField(field, 'is not used with agent'));
  }
  if (!agents.isAllowed(accountId)) {
    return err(
      failure(403, 'agents are not enabled for this account', {
        detail: 'The operator enables them with the setting agents.accounts.',
      }),
    );
  }
  const read = agents.read(agent);
  if (read.ok) return ok(read.value);
  const [[field, problem] = ['agent', 'is not valid']] = Object.entries(read.error);
  return err({ ...invalidField(field, problem), details: read.error });
}
