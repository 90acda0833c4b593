/** Composes the export of recordings as archives. */
import { createExporter } from '../../edge/archive/exporter.ts';
import type { SignedLinks } from '../../edge/rest/links.ts';
import type { Monitored } from './monitoring.ts';
import type { restSettings } from './rest-settings.ts';

export const joinExporter = (
  { basics, foundation, leaving, mailer }: Monitored,
  rest: ReturnType<typeof restSettings>,
  links: SignedLinks,
) =>
  createExporter({
    ...basics,
    elsewhere: leaving.elsewhere,
    ...rest,
    recordings: foundation.recordings,
    mailer,
    linkTo: (job) => links.toExport(job.accountId, job.exportId),
  });
