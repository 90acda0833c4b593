import { changedMembers } from '../../../../base/changed-members.ts';
import { err, ok } from '../../../../base/result.ts';
import type {
  CampaignControl,
  CampaignPlan,
  CampaignView,
} from '../../../../domain/campaign/types.ts';
import { invalidField } from '../../http/failure.ts';
import { accountRoute, type Route } from '../../http/route.ts';
import { flag, sliceQuery, Type } from '../../http/schema.ts';
import { answered, refused } from '../../refusal.ts';
import {
  CampaignCreateBody,
  CampaignSchema,
  CampaignUpdateBody,
  CloneBody,
  campaignPlan,
  changedPlan,
  momentUs,
  ScheduleBody,
  showCampaign,
} from '../../wire/campaign.ts';
import { sliceOf } from '../../wire/list.ts';
import {
  ACCOUNTS,
  accountParams,
  campaignParams,
  common,
  ownerOf,
  UNKNOWN_AGENT_NAMED,
} from './scope.ts';

const createCampaign = (root: string): Route =>
  accountRoute({
    ...common,
    method: 'POST',
    path: root,
    summary: 'Create a campaign. It is a draft until contacts are uploaded',
    status: 201,
    params: accountParams,
    body: CampaignCreateBody,
    reply: CampaignSchema,
    async run({ campaigns }, input) {
      const plan = campaignPlan(input.body);
      if (!plan.ok) return err(invalidField(...plan.error));
      const created = await campaigns.create(ownerOf(input), plan.value);
      return answered(created, showCampaign, UNKNOWN_AGENT_NAMED);
    },
  });

const listCampaigns = (root: string): Route =>
  accountRoute({
    ...common,
    method: 'GET',
    path: root,
    summary: 'List campaigns, latest first',
    params: accountParams,
    query: Type.Object({ ...sliceQuery, archived: Type.Optional(flag(false)) }),
    reply: Type.Object({ objects: Type.Array(CampaignSchema), total: Type.Integer() }),
    async run({ campaigns }, input) {
      const filter = { ...ownerOf(input), archived: input.query.archived === true };
      const { items, total } = await campaigns.list(filter, sliceOf(input.query));
      return ok({ objects: items.map(showCampaign), total });
    },
  });

const getCampaign = (root: string): Route =>
  accountRoute({
    ...common,
    method: 'GET',
    path: `${root}/{campaign_id}`,
    summary: 'Get the status, health, counters and pause reason of a campaign',
    params: campaignParams,
    reply: CampaignSchema,
    run: async ({ campaigns }, input) =>
      answered(await campaigns.get(ownerOf(input), input.params.campaign_id), showCampaign),
  });

const updateCampaign = (root: string): Route =>
  accountRoute({
    ...common,
    method: 'PUT',
    path: `${root}/{campaign_id}`,
    alsoRefuses: [409],
    summary: 'Update a draft or ready campaign. Absent fields stay unchanged',
    params: campaignParams,
    body: CampaignUpdateBody,
    reply: CampaignSchema,
    async run({ campaigns }, input) {
      const { campaign_id: id } = input.params;
      const known = await campaigns.get(ownerOf(input), id);
      if (!known.ok) return refused(known.error);
      const plan = changedPlan(known.value.campaign, input.body);
      if (!plan.ok) return err(invalidField(...plan.error));
      const changes = changedMembers<CampaignPlan>(known.value.campaign, plan.value);
      const changed = await campaigns.update(ownerOf(input), id, changes);
      return answered(changed, showCampaign, UNKNOWN_AGENT_NAMED);
    },
  });

const scheduleCampaign = (root: string): Route =>
  accountRoute({
    ...common,
    method: 'POST',
    path: `${root}/{campaign_id}/schedule`,
    alsoRefuses: [409],
    summary: 'Schedule the start of a draft or ready campaign; null removes the schedule',
    params: campaignParams,
    body: ScheduleBody,
    reply: CampaignSchema,
    async run({ campaigns }, input) {
      const atUs = momentUs(input.body.scheduled_at);
      if (Number.isNaN(atUs)) {
        return err(invalidField('scheduled_at', 'is not an existing date and time'));
      }
      const { campaign_id: id } = input.params;
      return answered(await campaigns.schedule(ownerOf(input), id, atUs), showCampaign);
    },
  });

const cloneCampaign = (root: string): Route =>
  accountRoute({
    ...common,
    method: 'POST',
    path: `${root}/{campaign_id}/clone`,
    summary: 'Copy the plan and pool of a campaign to a new draft, without contacts and schedule',
    status: 201,
    params: campaignParams,
    body: CloneBody,
    reply: CampaignSchema,
    async run({ campaigns }, input) {
      const { campaign_id: id } = input.params;
      const known = await campaigns.get(ownerOf(input), id);
      if (!known.ok) return refused(known.error);
      const name = input.body.name ?? copyName(known.value);
      const cloned = await campaigns.clone(ownerOf(input), id, name);
      return answered(cloned, showCampaign, UNKNOWN_AGENT_NAMED);
    },
  });

const NAME_MAX = 100;
const COPY = ' (copy)';
const copyName = ({ campaign }: CampaignView): string =>
  campaign.name.slice(0, NAME_MAX - COPY.length) + COPY;

type Command = 'start' | 'pause' | 'resume' | 'cancel' | 'archive';

const COMMANDS: Readonly<Record<Command, string>> = {
  start: 'Start a ready campaign',
  pause: 'Pause a campaign. Running calls continue',
  resume: 'Resume a paused campaign. Refused while the cause of the pause exists',
  cancel: 'End a running or paused campaign permanently',
  archive: 'Archive a campaign that is not running. Its results stay readable',
};

const command = (root: string, name: Command): Route =>
  accountRoute({
    ...common,
    method: 'POST',
    path: `${root}/{campaign_id}/${name}`,
    alsoRefuses: [409],
    summary: COMMANDS[name],
    params: campaignParams,
    body: Type.Object({}),
    reply: CampaignSchema,
    run: async ({ campaigns }, input) =>
      answered(
        await commanded(campaigns, name)(ownerOf(input), input.params.campaign_id),
        showCampaign,
      ),
  });

const commanded = (campaigns: CampaignControl, name: Command): CampaignControl[Command] =>
  campaigns[name].bind(campaigns);

export const campaignRoutes: readonly Route[] = ACCOUNTS.flatMap((account) => {
  const root = `${account}/campaigns`;
  return [
    createCampaign(root),
    listCampaigns(root),
    getCampaign(root),
    updateCampaign(root),
    scheduleCampaign(root),
    cloneCampaign(root),
    ...(Object.keys(COMMANDS) as Command[]).map((name) => command(root, name)),
  ];
});
