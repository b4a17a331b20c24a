import { placesOf } from '@perkway/catalogue/places';
import { useAll } from '../api/resources';
import type { Category, PutPerk, StoredPerk } from '../api/types';
import { CheckField, SelectField, TextArea, TextField } from '../parts/fields';
import { PerkCard } from '../parts/perk-card';
import { ResourceEditor } from '../parts/resource-editor';
import { fromYaml, toYaml } from '../parts/yaml-text';
import { slugOf } from '../slug';
import { texts } from '../texts';
import { CATALOGUE, type EditorProps } from './catalogue';

const t = texts.catalogue;
type Kind = keyof typeof texts.perks.kinds;

interface Draft {
  title: string;
  callout: string;
  description: string;
  redemption_note: string;
  details: string;
  offer_url: string;
  offer_slug: string;
  kind: Kind;
  coupon: string;
  codesPerAccount: string;
  metadata: string;
  partnerId: string;
  partnerName: string;
  banner: string;
  logo: string;
  categories: number[];
  places: string;
  translations: string;
}
const BLANK: Draft = {
  title: '',
  callout: '',
  description: '',
  redemption_note: '',
  details: '',
  offer_url: '',
  offer_slug: '',
  kind: 'auto',
  coupon: '',
  codesPerAccount: '',
  metadata: '',
  partnerId: '',
  partnerName: '',
  banner: '',
  logo: '',
  categories: [],
  places: '',
  translations: '',
};

const toDraft = (perk: StoredPerk): Draft => ({
  ...BLANK,
  title: perk.title,
  callout: perk.callout,
  description: perk.description,
  redemption_note: perk.redemption_note,
  details: perk.details,
  offer_url: perk.offer_url,
  offer_slug: perk.offer_slug,
  kind: perk.coupon ? 'coupon' : perk.is_coupon_perk ? 'single' : 'auto',
  coupon: perk.coupon ?? '',
  codesPerAccount: String(perk.codes_per_account ?? ''),
  metadata: perk.metadata,
  partnerId: perk.partner.id,
  partnerName: perk.partner.name,
  banner: perk.media.banner ?? '',
  logo: perk.media.logo ?? '',
  categories: perk.categories,
  places: perk.locations
    .map(({ country, region, city }) =>
      [country, region, city]
        .map((part) => part ?? '')
        .join('/')
        .replace(/\/+$/, ''),
    )
    .join('\n'),
  translations: toYaml(perk.translations),
});

const toBody = (draft: Draft) => ({
  title: draft.title,
  callout: draft.callout,
  description: draft.description,
  redemption_note: draft.redemption_note,
  details: draft.details,
  offer_url: draft.offer_url,
  offer_slug: draft.offer_slug,
  ...(draft.kind === 'coupon' && { coupon: draft.coupon }),
  is_coupon_perk: draft.kind === 'single',
  ...(draft.kind === 'single' &&
    draft.codesPerAccount !== '' && { codes_per_account: Number(draft.codesPerAccount) }),
  metadata: draft.metadata,
  partner: { id: draft.partnerId, name: draft.partnerName },
  categories: draft.categories,
  media: { banner: draft.banner || null, logo: draft.logo || null },
  locations: placesOf(draft.places, '\n'),
  translations: fromYaml(t.translations, draft.translations, {}),
});

export default function PerkEditor({ id, onSaved, onDeleted }: EditorProps) {
  const categories = useAll<Category>(`${CATALOGUE}/categories`);
  const nameOf = (categoryId: number) =>
    categories.data?.find((one) => one.id === categoryId)?.name ?? String(categoryId);
  return (
    <ResourceEditor<StoredPerk, Draft, PutPerk>
      path={`${CATALOGUE}/perks`}
      id={id}
      makeId={({ partnerName, title }) => slugOf(`${partnerName} ${title}`)}
      blank={BLANK}
      toDraft={toDraft}
      toBody={toBody}
      canDelete
      onSaved={onSaved}
      onDeleted={onDeleted}
      preview={(draft) => (
        <PerkCard
          title={draft.title}
          callout={draft.callout}
          description={draft.description}
          redemptionNote={draft.redemption_note}
          details={draft.details}
          partner={draft.partnerName}
          banner={draft.banner}
          logo={draft.logo}
          categories={draft.categories.map(nameOf)}
          places={placesOf(draft.places, '\n')}
          coupon={draft.kind === 'coupon' ? draft.coupon : undefined}
          isCouponPerk={draft.kind === 'single'}
          metadata={draft.metadata}
        />
      )}
      fields={(draft, change) => (
        <>
          <TextField
            label={t.title}
            className="wide"
            required
            value={draft.title}
            onValue={(title) => change({ title })}
          />
          <TextField label={t.callout} value={draft.callout} onValue={(callout) => change({ callout })} />
          <TextField
            label={t.redemptionNote}
            value={draft.redemption_note}
            onValue={(redemption_note) => change({ redemption_note })}
          />
          <TextArea
            label={t.description}
            className="wide"
            value={draft.description}
            onValue={(description) => change({ description })}
          />
          <TextArea
            label={t.details}
            className="wide"
            value={draft.details}
            onValue={(details) => change({ details })}
          />
          <TextField
            label={t.offerUrl}
            type="url"
            required
            value={draft.offer_url}
            onValue={(offer_url) => change({ offer_url })}
          />
          <TextField
            label={t.offerSlug}
            required
            value={draft.offer_slug}
            onValue={(offer_slug) => change({ offer_slug })}
          />
          <SelectField
            label={t.kind}
            value={draft.kind}
            options={Object.entries(texts.perks.kinds).map(([value, label]) => ({ value, label }))}
            onValue={(kind) => change({ kind: kind as Kind })}
          />
          {draft.kind === 'coupon' && (
            <TextField
              label={t.coupon}
              required
              value={draft.coupon}
              onValue={(coupon) => change({ coupon })}
            />
          )}
          {draft.kind === 'single' && (
            <TextField
              label={t.codesPerAccount}
              value={draft.codesPerAccount}
              onValue={(codesPerAccount) => change({ codesPerAccount })}
            />
          )}
          <TextField
            label={t.partner}
            required
            value={draft.partnerName}
            onValue={(partnerName) => change({ partnerName })}
          />
          <TextField
            label={t.partnerId}
            required
            value={draft.partnerId}
            onValue={(partnerId) => change({ partnerId })}
          />
          <TextField
            label={t.banner}
            type="url"
            value={draft.banner}
            onValue={(banner) => change({ banner })}
          />
          <TextField label={t.logo} type="url" value={draft.logo} onValue={(logo) => change({ logo })} />
          <TextArea
            label={t.metadata}
            className="wide"
            rows={2}
            hint={t.metadataHint}
            value={draft.metadata}
            onValue={(metadata) => change({ metadata })}
          />
          <fieldset className="wide">
            <legend>{t.categories}</legend>
            <div className="checks">
              {(categories.data ?? []).map(({ id: categoryId, name }) => (
                <CheckField
                  key={categoryId}
                  label={name}
                  checked={draft.categories.includes(categoryId)}
                  onValue={(on) =>
                    change({
                      categories: [
                        ...draft.categories.filter((one) => one !== categoryId),
                        ...(on ? [categoryId] : []),
                      ].sort((one, other) => one - other),
                    })
                  }
                />
              ))}
            </div>
          </fieldset>
          <TextArea
            label={t.locations}
            hint={t.locationsHint}
            value={draft.places}
            onValue={(places) => change({ places })}
          />
          <TextArea
            label={t.translations}
            className="wide code"
            rows={8}
            hint={t.translationsHint}
            value={draft.translations}
            onValue={(translations) => change({ translations })}
          />
        </>
      )}
    />
  );
}
