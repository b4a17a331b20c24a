// Reads what `npm audit --omit=dev --json` says: fails on advisories of severity high and above that are not explained
// here, and says so where the registry has no answer.
import { readFileSync } from 'node:fs';

/** Why one does not concern us, by the address of the advisory. */
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
  console.log('packages: NOT RUN, the registry answers no audit');
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
  `packages: ${advisories.size} advisories of high severity and above, ${open.length} of them not explained`,
);
process.exitCode = open.length > 0 ? 1 : 0;
