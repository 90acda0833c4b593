/** All pages of the console, in the order of the sidebar. */
import {
  Activity,
  AppWindow,
  AudioLines,
  BellRing,
  Building2,
  ChartNoAxesCombined,
  CircleDollarSign,
  CircleUserRound,
  CodeXml,
  Contact,
  Database,
  FileAudio,
  FileClock,
  FileUp,
  Fingerprint,
  Hash,
  type IconNode,
  KeyRound,
  Megaphone,
  Network,
  PhoneCall,
  PhoneForwarded,
  PhoneOff,
  Radio,
  ReceiptText,
  ScrollText,
  Server,
  ShieldCheck,
  SlidersHorizontal,
  Stethoscope,
  TowerControl,
  UserRound,
  Users,
  Waypoints,
  Webhook,
} from 'lucide';
import type { ComponentType } from 'preact';
import type { PageProps } from './page-props.ts';
import { t } from './text.ts';

export interface PageInfo {
  readonly path: string;
  readonly title: string;
  readonly section: string;
  readonly icon: IconNode;
  /** For operator staff only. */
  readonly isStaffs?: boolean;
  readonly load: () => Promise<ComponentType<PageProps>>;
}

const monitor = t('Monitor');
const campaigns = t('Campaigns');
const build = t('Build');
const developers = t('Developers');
const money = t('Money');
const operate = t('Operate');
const workspace = t('Workspace');

export const PAGES: readonly PageInfo[] = [
  {
    path: 'overview',
    title: t('Overview'),
    section: monitor,
    icon: ChartNoAxesCombined,
    load: async () => (await import('./pages/overview.tsx')).Overview,
  },
  {
    path: 'calls',
    title: t('Calls'),
    section: monitor,
    icon: PhoneCall,
    load: async () => (await import('./pages/calls.tsx')).CallsPages,
  },
  {
    path: 'conferences',
    title: t('Conferences'),
    section: monitor,
    icon: Users,
    load: async () => (await import('./pages/conferences.tsx')).Conferences,
  },
  {
    path: 'streams',
    title: t('Streams'),
    section: monitor,
    icon: Radio,
    load: async () => (await import('./pages/streams.tsx')).Streams,
  },
  {
    path: 'recordings',
    title: t('Recordings'),
    section: monitor,
    icon: FileAudio,
    load: async () => (await import('./pages/recordings.tsx')).Recordings,
  },
  {
    path: 'campaigns',
    title: t('Campaigns'),
    section: campaigns,
    icon: Megaphone,
    load: async () => (await import('./pages/campaigns.tsx')).CampaignPages,
  },
  {
    path: 'agents',
    title: t('Agents'),
    section: campaigns,
    icon: Contact,
    load: async () => (await import('./pages/agents.tsx')).Agents,
  },
  {
    path: 'do-not-call',
    title: t('Do-not-call list'),
    section: campaigns,
    icon: PhoneOff,
    load: async () => (await import('./pages/do-not-call.tsx')).DoNotCall,
  },
  {
    path: 'applications',
    title: t('Applications'),
    section: build,
    icon: AppWindow,
    load: async () => (await import('./pages/applications.tsx')).Applications,
  },
  {
    path: 'playground',
    title: t('Playground'),
    section: build,
    icon: CodeXml,
    load: async () => (await import('./pages/playground.tsx')).Playground,
  },
  {
    path: 'numbers',
    title: t('Numbers'),
    section: build,
    icon: Hash,
    load: async () => (await import('./pages/numbers.tsx')).Numbers,
  },
  {
    path: 'endpoints',
    title: t('Endpoints'),
    section: build,
    icon: PhoneForwarded,
    load: async () => (await import('./pages/endpoints.tsx')).Endpoints,
  },
  {
    path: 'trunks',
    title: t('Trunks'),
    section: build,
    icon: Waypoints,
    load: async () => (await import('./pages/trunks.tsx')).Trunks,
  },
  {
    path: 'caller-ids',
    title: t('Caller IDs'),
    section: build,
    icon: ShieldCheck,
    load: async () => (await import('./pages/caller-ids.tsx')).CallerIds,
  },
  {
    path: 'credentials',
    title: t('API credentials'),
    section: developers,
    icon: KeyRound,
    load: async () => (await import('./pages/credentials.tsx')).Credentials,
  },
  {
    path: 'webhooks',
    title: t('Webhooks'),
    section: developers,
    icon: Webhook,
    load: async () => (await import('./pages/webhooks.tsx')).Webhooks,
  },
  {
    path: 'sub-accounts',
    title: t('Sub-accounts'),
    section: developers,
    icon: Network,
    load: async () => (await import('./pages/sub-accounts.tsx')).SubAccounts,
  },
  {
    path: 'billing',
    title: t('Billing'),
    section: money,
    icon: CircleDollarSign,
    load: async () => (await import('./pages/billing.tsx')).Billing,
  },
  {
    path: 'rates',
    title: t('Rates'),
    section: money,
    icon: ReceiptText,
    load: async () => (await import('./pages/rates.tsx')).Rates,
  },
  {
    path: 'health',
    title: t('Health'),
    section: operate,
    icon: Activity,
    isStaffs: true,
    load: async () => (await import('./pages/health.tsx')).Health,
  },
  {
    path: 'nodes',
    title: t('Nodes'),
    section: operate,
    icon: Server,
    isStaffs: true,
    load: async () => (await import('./pages/nodes.tsx')).Nodes,
  },
  {
    path: 'alarms',
    title: t('Alarms'),
    section: operate,
    icon: BellRing,
    isStaffs: true,
    load: async () => (await import('./pages/alarms.tsx')).Alarms,
  },
  {
    path: 'log',
    title: t('Log'),
    section: operate,
    icon: ScrollText,
    isStaffs: true,
    load: async () => (await import('./pages/log.tsx')).Log,
  },
  {
    path: 'doctor',
    title: t('Doctor'),
    section: operate,
    icon: Stethoscope,
    isStaffs: true,
    load: async () => (await import('./pages/doctor.tsx')).Doctor,
  },
  {
    path: 'settings',
    title: t('Settings'),
    section: operate,
    icon: SlidersHorizontal,
    isStaffs: true,
    load: async () => (await import('./pages/settings.tsx')).Settings,
  },
  {
    path: 'database',
    title: t('Database'),
    section: operate,
    icon: Database,
    isStaffs: true,
    load: async () => (await import('./pages/database.tsx')).DatabasePage,
  },
  {
    path: 'media-policies',
    title: t('Media policies'),
    section: operate,
    icon: AudioLines,
    isStaffs: true,
    load: async () => (await import('./pages/media-policies.tsx')).MediaPolicies,
  },
  {
    path: 'carriers',
    title: t('Carriers'),
    section: operate,
    icon: TowerControl,
    isStaffs: true,
    load: async () => (await import('./pages/carriers.tsx')).Carriers,
  },
  {
    path: 'accounts',
    title: t('Accounts'),
    section: operate,
    icon: Building2,
    isStaffs: true,
    load: async () => (await import('./pages/accounts.tsx')).Accounts,
  },
  {
    path: 'import',
    title: t('Import'),
    section: operate,
    icon: FileUp,
    isStaffs: true,
    load: async () => (await import('./pages/import.tsx')).Import,
  },
  {
    path: 'personal-data',
    title: t('Personal data'),
    section: operate,
    icon: Fingerprint,
    isStaffs: true,
    load: async () => (await import('./pages/personal-data.tsx')).PersonalData,
  },
  {
    path: 'account',
    title: t('Account'),
    section: workspace,
    icon: CircleUserRound,
    load: async () => (await import('./pages/account.tsx')).Account,
  },
  {
    path: 'people',
    title: t('People'),
    section: workspace,
    icon: Users,
    load: async () => (await import('./pages/people.tsx')).People,
  },
  {
    path: 'audit',
    title: t('Audit log'),
    section: workspace,
    icon: FileClock,
    load: async () => (await import('./pages/audit.tsx')).Audit,
  },
  {
    path: 'profile',
    title: t('Profile'),
    section: workspace,
    icon: UserRound,
    load: async () => (await import('./pages/profile.tsx')).Profile,
  },
];

/** Paths of earlier versions of the console, in bookmarks. */
export const MOVED: Readonly<Record<string, string>> = {
  'build/applications': 'applications',
  'build/xml': 'playground',
  'build/endpoints': 'endpoints',
  'build/numbers': 'numbers',
  'build/trunks': 'trunks',
  'build/caller-ids': 'caller-ids',
  'build/carriers': 'carriers',
  build: 'applications',
  money: 'billing',
};
