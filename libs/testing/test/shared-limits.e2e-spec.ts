import { Controller, Get, Module } from '@nestjs/common';
import { authEnv, AuthModule } from '@perkway/auth';
import { loadEnv, NatsService, platformEnv, type AppDefinition } from '@perkway/platform';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  aKey,
  brokerUrlOf,
  closeAll,
  fakeAccounts,
  http,
  launchApp,
  skipToNextMinute,
  testNats,
  testSecrets,
  untilServed,
  waitFor,
  type FakeAccounts,
  type LaunchedApp,
  type TestNats,
} from '../src';

@Controller()
class ProbeController {
  @Get('mine')
  mine() {
    return {};
  }
}
@Module({ imports: [AuthModule], controllers: [ProbeController] })
class ProbeModule {}

const LIMIT = 20;
const TRUSTED = '127.0.0.1';

describe('two replicas of an app', () => {
  let nats: TestNats;
  let accounts: FakeAccounts;
  let replicas: LaunchedApp[];
  const key = aKey();

  // Uses the name and broker user of a real app, because only those may publish limit counts.
  const definition = (): AppDefinition => ({
    name: 'perks',
    module: ProbeModule,
    env: loadEnv(
      { ...platformEnv, ...authEnv },
      {
        PORT: '1',
        NATS_URL: brokerUrlOf('perks', nats.server.url),
        API_KEY_PEPPER: testSecrets().apiKeyPepper,
        UNKNOWN_KEYS_PER_MINUTE: String(LIMIT),
        TRUSTED_PROXIES: TRUSTED,
      },
    ),
  });

  beforeAll(async () => {
    nats = await testNats();
    accounts = await fakeAccounts(nats.url, key);
    replicas = [await launchApp(definition()), await launchApp(definition())];
    for (const { app } of replicas) await app.get(NatsService).connected();
  });
  afterAll(() => closeAll(...replicas, accounts, nats));
  beforeEach(skipToNextMinute);
  afterEach(() => jest.restoreAllMocks());

  const failedAttempt = async (replica: number, address: string) => {
    const response = await http(replicas[replica]!, {
      'x-api-key': 'nobody-knows-this-key',
      'x-forwarded-for': address,
    }).get('/mine');
    return { status: response.status, remaining: Number(response.headers['ratelimit-remaining']) };
  };
  let addresses = 0;
  const anAddress = () => `198.51.100.${(addresses += 1)}`;
  const untilTheyHearOneAnother = () =>
    waitFor(async () => {
      const address = anAddress();
      for (let round = 0; round < 4; round += 1) await failedAttempt(0, address);
      await sleep(50);
      return (await failedAttempt(1, address)).remaining === LIMIT - 5;
    }, 'one replica to learn the counts of the other');

  it('limit an address together: each subtracts the attempts that the other counted', async () => {
    await untilTheyHearOneAnother();
    const address = anAddress();
    const statuses: number[] = [];
    for (let round = 0; round < 2 * LIMIT; round += 1)
      statuses.push((await failedAttempt(round % 2, address)).status);
    const admitted = statuses.filter((status) => status === 401).length;
    expect(admitted).toBeGreaterThanOrEqual(LIMIT);
    // More than LIMIT pass while counts are in transit. Without sharing, all 2 * LIMIT would pass.
    expect(admitted).toBeLessThan(1.5 * LIMIT);
    // Other addresses and valid keys are not affected.
    expect((await failedAttempt(1, anAddress())).status).toBe(401);
    const withKey = http(replicas[1]!, { 'x-api-key': key.key, 'x-forwarded-for': address });
    expect((await untilServed(() => withKey.get('/mine'))).status).toBe(200);
  });

  it('give one replica the whole limit if the other counts nothing', async () => {
    const address = anAddress();
    const statuses: number[] = [];
    for (let round = 0; round <= LIMIT; round += 1) statuses.push((await failedAttempt(1, address)).status);
    expect(statuses).toEqual([...Array<number>(LIMIT).fill(401), 429]);
  });

  it('share counts again after the broker restarts', async () => {
    await nats.kill();
    await nats.restart();
    await untilTheyHearOneAnother();
  });
});
