// Reads the output of `npm audit --omit=dev --json`. Fails on advisories of high severity and above without an
// explanation here, and reports if the registry returned no audit.
import { readFileSync } from 'node:fs';

/** Why an advisory does not affect us, by its URL. */
const EXPLAINED = {};

const read = () => {
  try {
    return JSON.parse(readFileSync(0, 'utf8'));
  } catch {
    return {};
  }
};
const { vulnerabilities } = read();
if (!vulnerabilities) {
  console.log('packages: NOT RUN, the registry returned no audit');
  process.exit(0);
}
const advisories = new Map(
  Object.values(vulnerabilities)
    .flatMap(({ via }) => via)
    .filter((via) => typeof via === 'object' && ['high', 'critical'].includes(via.severity))
    .map((via) => [via.url, via]),
);
const open = [...advisories.values()].filter(({ url }) => !Object.hasOwn(EXPLAINED, url));
for (const { name, severity, title, url } of open)
  console.log(`packages: ${name}: ${severity}: ${title} (${url})`);
console.log(
  `packages: ${advisories.size} advisories of high severity and above, ${open.length} of them without an explanation`,
);
process.exitCode = open.length > 0 ? 1 : 0;
