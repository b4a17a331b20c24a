import { parseBrokerUrl } from '@perkway/domain';
import { connect, type NatsConnection } from '@nats-io/transport-node';

const TIMEOUT_MS = 5_000;

/** Connects as the user in the URL, and trusts NATS_CA_FILE if it is set. */
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

/** Runs `work` with a broker connection and closes it afterwards. For tools; apps connect through the platform. */
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
