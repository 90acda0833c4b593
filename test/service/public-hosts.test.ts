/** Public hosts that follow from the settings. */
import { describe, expect, it } from 'vitest';
import { derive } from '../../src/service/settings.ts';
import { testSettings } from '../foundation.ts';

const hostsOf = (environment: Readonly<Record<string, string>>) => {
  const { sipPublicHost, sipPublicHost6, registrarHost, rtpPublicHost6 } = derive(
    testSettings(environment),
  );
  return { sipPublicHost, sipPublicHost6, registrarHost, rtpPublicHost6 };
};

describe('public hosts', () => {
  it('are loopback addresses of both families on :: without settings', () => {
    expect(hostsOf({ CARILLON_SIP_HOST: '::', CARILLON_RTP_HOST: '::' })).toEqual({
      sipPublicHost: '127.0.0.1',
      sipPublicHost6: '::1',
      registrarHost: '127.0.0.1',
      rtpPublicHost6: '::1',
    });
  });

  it('for IPv6 may be in brackets in the settings, and are in brackets in SIP URIs', () => {
    const hosts = {
      CARILLON_SIP_HOST: '::',
      CARILLON_SIP_PUBLIC_HOST: 'sip.example.com',
      CARILLON_SIP_PUBLIC_HOST6: '[2001:db8::7]',
    };
    expect(hostsOf(hosts)).toMatchObject({
      sipPublicHost6: '2001:db8::7',
      registrarHost: 'sip.example.com',
    });
    expect(hostsOf({ CARILLON_SIP_PUBLIC_HOST: '2001:db8::7' })).toMatchObject({
      sipPublicHost: '2001:db8::7',
      sipPublicHost6: undefined,
      registrarHost: '[2001:db8::7]',
    });
  });
});
