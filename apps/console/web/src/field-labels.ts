import { nameOfLanguage } from './parts/translations';
import { texts } from './texts';

type Labels = Readonly<Record<string, string>>;

const { accounts, catalogue, editor, integration, limits, pools, reports, rewardLinks, webhooks } = texts;
const LINK: Labels = {
  pool_id: rewardLinks.pool,
  campaign_id: rewardLinks.campaign,
  denomination: rewardLinks.value,
  currency: limits.currency,
  country: rewardLinks.country,
  expires_at: rewardLinks.ends,
  created_by: rewardLinks.maker,
};

/**
 * The labels of forms, by kind (the first segment of the paths in the audit log) and by member of the resource or of the
 * form's draft. `color` is also the label of inner members such as `product.color`.
 */
const FIELD_LABELS: Readonly<Record<string, Labels>> = {
  accounts: {
    name: accounts.name,
    allowed_origins: accounts.origins,
    brandName: accounts.brandName,
    'brand.name': accounts.brandName,
    color: accounts.color,
    support_url: accounts.supportUrl,
    logo: accounts.logo,
    approvalLinks: accounts.approvalLinks,
    'approvals.links': accounts.approvalLinks,
    approvalAmounts: accounts.approvalAmounts,
    'approvals.amount': accounts.approvalAmounts,
    // Of its keys and people.
    role: integration.role,
    scopes: integration.allowed,
    expires_at: integration.lastDay,
  },
  perks: {
    title: catalogue.title,
    callout: catalogue.callout,
    description: catalogue.description,
    redemption_note: catalogue.redemptionNote,
    details: catalogue.details,
    offer_url: catalogue.offerUrl,
    offer_slug: catalogue.offerSlug,
    is_coupon_perk: catalogue.kind,
    coupon: catalogue.coupon,
    codes_per_account: catalogue.codesPerAccount,
    'partner.id': catalogue.partnerId,
    'partner.name': catalogue.partner,
    'media.banner': catalogue.banner,
    'media.logo': catalogue.logo,
    categories: catalogue.categories,
    metadata: catalogue.metadata,
    locations: catalogue.locations,
  },
  categories: { name: catalogue.name, slug: catalogue.slug },
  'perk-collections': {
    owner: editor.owner,
    groups: catalogue.groups,
    'groups.name': catalogue.groupName,
    'groups.perks': catalogue.perks,
  },
  campaigns: { name: accounts.name, owner: editor.owner, incentives: texts.campaigns.perks },
  pools: {
    owner: editor.owner,
    name: pools.name,
    instructions: pools.instructions,
    redeem_url: pools.redeemUrl,
    terms_url: pools.termsUrl,
    logo: pools.logo,
    color: pools.color,
    code_format: pools.codeFormat,
  },
  limits: {
    owner: editor.owner,
    links: limits.links,
    amount: limits.amount,
    currency: limits.currency,
    period: limits.period,
    timezone: limits.timezone,
    per: limits.per,
    pool_id: limits.onlyPool,
    campaign_id: limits.onlyCampaign,
  },
  'reward-links': LINK,
  pool: LINK,
  reports: {
    title: reports.name,
    campaign_id: reports.campaign,
    comment: reports.comment,
    expires_at: reports.until,
  },
  webhooks: {
    url: webhooks.url,
    description: webhooks.description,
    types: webhooks.types,
    ordered: webhooks.ordered,
    enabled: webhooks.enabled,
  },
};

export const labelsOf = (kind: string): Labels => FIELD_LABELS[kind] ?? {};

/** Returns the label of a member, with positions in lists counted from 1, or the path if no part of it has a label. */
export function labelOf(labels: Labels, path: string[]): string {
  const at = path.indexOf('translations');
  const language = at < 0 ? undefined : path[at + 1];
  if (language !== undefined) {
    const text = path.slice(at + 2);
    const label =
      text.length > 0 ? labelOf(labels, [...path.slice(0, at), ...text]) : texts.translations.title;
    return texts.translations.textIn(label, nameOfLanguage(language));
  }
  let key = '';
  let label = '';
  for (const [index, name] of path.entries()) {
    if (/^\d+$/.test(name)) {
      label &&= `${label} ${Number(name) + 1}`;
      continue;
    }
    key = key ? `${key}.${name}` : name;
    // The id of a list item is the item itself.
    const isNamed = label !== '' && index === path.length - 1 && name !== 'id';
    const own = labels[key] ?? labels[name] ?? (isNamed ? name : '');
    label = [label, own].filter(Boolean).join(': ');
  }
  return label || path.join('.');
}
