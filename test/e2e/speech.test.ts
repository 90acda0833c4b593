/** Speech recognition in a real call: transcribed by an operator's server, used by the document, charged and reported. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formOf, SpeechServer } from '../edge/speech/speech-server.ts';
import { Customer } from './customer.ts';
import { babble, makeUser, startCall } from './phone.ts';
import { eventually, newPlace, removePlace, Service, type ServicePlace } from './service.ts';

let words = 'sales please';
let place: ServicePlace;
let service: Service;
let customer: Customer;
let server: SpeechServer;

beforeAll(async () => {
  server = await SpeechServer.listen({
    reply: (_heard, response) => void response.end(JSON.stringify({ text: words })),
  });
  place = await newPlace({ CARILLON_RECOGNITION_HTTP_URL: server.url });
  service = await Service.start(place);
  customer = await Customer.listen();
});
afterAll(async () => {
  await service.kill();
  await customer.close();
  await server.close();
  removePlace(place);
});

const voice = (): Int16Array => {
  const speech = babble(2);
  const all = new Int16Array(8000 * 6);
  all.set(speech, 4000);
  return all;
};

describe('speech recognition in a real call', () => {
  it('GetInput transcribes the caller and posts the words to its action', async () => {
    const action = customer.xml('/chosen', '<Response><Hangup/></Response>');
    const answer_url = customer.xml(
      '/listen',
      `<Response><GetInput action="${action}" inputType="speech" hints="sales, support">
        <Wait length="1"/></GetInput><Hangup/></Response>`,
    );
    const user = await makeUser(service, 'speaks', { answer_url });
    const call = await startCall(service, user, { voice: voice(), seconds: 15 });
    const { form } = await eventually('the words', () => customer.at('/chosen')[0]);
    await call.report;
    expect(form).toMatchObject({
      InputType: 'speech',
      Speech: 'sales please',
      BilledAmount: '0.0015',
    });
    const file = Buffer.from(
      formOf(server.received[0]?.body ?? Buffer.alloc(0))['file'] ?? '',
      'latin1',
    );
    // The file holds the noise burst and the pause after it, not the whole call.
    expect(file.length / 32_000).toBeGreaterThan(1.5);
    expect(file.length / 32_000).toBeLessThan(5);
    const ledger = await service.api('GET', 'transactions?reference_type=transcription');
    expect(ledger.body['total']).toBe(1);
  });

  it('Record reports and stores the transcript of the recording', async () => {
    words = 'call me back';
    const reported = customer.page('/words', (response) => response.end());
    const answer_url = customer.xml(
      '/record',
      `<Response><Record maxLength="2" playBeep="false" transcriptionType="auto" transcriptionUrl="${reported}"/><Hangup/></Response>`,
    );
    const user = await makeUser(service, 'records', { answer_url });
    const call = await startCall(service, user, { voice: voice(), seconds: 15 });
    await call.report;
    const { form } = await eventually('the words', () => customer.at('/words')[0]);
    expect(form).toMatchObject({ transcription: 'call me back', error: '', duration: '2' });
    const retained = await service.api('GET', `Transcription/${form['transcription_id']}/`);
    expect(retained.body).toMatchObject({ transcription: 'call me back', status: 'ready' });
    expect(form['transcription_url']).toContain(`/Transcription/${form['transcription_id']}/`);
  });
});
