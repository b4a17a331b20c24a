import { parseBrokerUrl } from '@perkway/domain';
import { connect, type NatsConnection } from '@nats-io/transport-node';

const TIMEOUT_MS = 5_000;

/** As whoever the URL names, trusting NATS_CA_FILE where it is set. */
function connectToBroker(natsUrl: string): Promise<NatsConnection> {
  const { servers, user, password, token, tls } = parseBrokerUrl(natsUrl);
  const caFile = process.env.NATS_CA_FILE;
  return connect({
    servers,
    user,
    pass: password,
    token,
    ...(tls || caFile ? { tls: { caFile } } : {}),
    timeout: TIMEOUT_MS,
  });
}

/** For tools; apps connect through the platform. The connection is closed whatever comes of the work. */
export async function withBroker<T>(
  natsUrl: string,
  work: (connection: NatsConnection) => Promise<T>,
): Promise<T> {
  const connection = await connectToBroker(natsUrl);
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}
