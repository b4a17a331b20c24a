import { perkIdOf } from '@perkway/catalogue/complete-perks';
import { placesOf } from '@perkway/catalogue/places';
import { PERK_TEXTS } from '@perkway/catalogue/resources';
import { PERK_SHAPE } from '@perkway/catalogue/shapes';
import { useState } from 'react';
import {
  bodyOf,
  CAMPAIGNS,
  CATEGORIES,
  COLLECTIONS,
  PERKS,
  useAll,
  type Kind as Resources,
} from '../api/managed';
import type { PutPerk, StoredPerk } from '../api/types';
import { labelsOf } from '../field-labels';
import { CheckField, FieldGroup, SelectField, TextArea, TextField } from '../parts/fields';
import { PerkCard } from '../parts/perk-card';
import { PerkPicture } from '../parts/perk-picture';
import { ResourceEditor, type EditorProps } from '../parts/resource-editor';
import { OwnTranslations } from '../parts/translations';
import { UsedIn } from '../parts/used-in';
import { followedSlug } from '../slug';
import { texts } from '../texts';
import { CouponCodes } from './coupon-codes';

const t = texts.catalogue;
type Kind = keyof typeof texts.perks.kinds;
type Places = NonNullable<PutPerk['locations']>;

const USERS: Resources[] = [COLLECTIONS, CAMPAIGNS];

const BLANK: PutPerk = {
  title: '',
  description: '',
  callout: '',
  redemption_note: '',
  details: '',
  offer_url: '',
  offer_slug: '',
  metadata: '',
  partner: { id: '', name: '' },
  categories: [],
  media: { banner: null, logo: null },
  locations: [],
  translations: {},
};

const kindOf = ({ coupon, is_coupon_perk }: PutPerk): Kind =>
  is_coupon_perk ? 'single' : typeof coupon === 'string' ? 'coupon' : 'auto';

const changesOfKind = (kind: Kind, codes_per_account: PutPerk['codes_per_account']) => ({
  is_coupon_perk: kind === 'single',
  coupon: kind === 'coupon' ? '' : undefined,
  codes_per_account: kind === 'single' ? codes_per_account : undefined,
});

const textOf = (places: PutPerk['locations']) =>
  (places ?? [])
    .map(({ country, region, city }) => [country, region ?? '', city ?? ''].join('/').replace(/\/+$/, ''))
    .join('\n');

export default function PerkEditor({ id, onSaved, onDeleted, onNamed }: EditorProps) {
  const categories = useAll(CATEGORIES);
  /** The partner when its name got the focus. A name that is being typed may briefly be that of another partner. */
  const [partnerBefore, setPartnerBefore] = useState<PutPerk['partner'] | null>(null);
  const perks = useAll(PERKS, partnerBefore !== null);
  const nameOf = (categoryId: number) =>
    categories.data?.find((one) => one.id === categoryId)?.name ?? String(categoryId);
  // The ids of a stored perk never change with its names.
  const idOf = id === null ? followedSlug : (stored: string) => stored;
  const partners = new Map(perks.data?.map(({ partner }) => [partner.name, partner.id]));
  const partnerIdOf = (before: PutPerk['partner'], name: string) => {
    // The id of a known partner was not typed, so that a new perk need not keep it.
    const isTaken = id === null && before.id === partners.get(before.name);
    return partners.get(name) ?? idOf(isTaken ? '' : before.id, before.name, name);
  };
  return (
    <>
      <ResourceEditor<StoredPerk, PutPerk, PutPerk>
        kind={PERKS}
        id={id}
        makeId={perkIdOf}
        blank={BLANK}
        toDraft={(stored) => ({ ...BLANK, ...bodyOf<PutPerk>(stored) })}
        toBody={(perk) => perk}
        shape={PERK_SHAPE}
        unlogged={{
          keep: (perk, latest) => (perk.is_coupon_perk ? perk : { ...perk, coupon: latest?.coupon }),
          note: (perk) => t.unlogged[kindOf(perk)],
        }}
        textOfItem={(name, item) => (name === 'categories' ? nameOf(item) : textOf([item]))}
        onSaved={onSaved}
        onDeleted={onDeleted}
        nameOf={(stored) => stored.title}
        onNamed={onNamed}
        usedIn={(stored) => <UsedIn kinds={USERS} query={{ perk_id: stored.id }} note={t.perkInUse} />}
        blockedBy={(stored) => ({ kind: COLLECTIONS, query: { perk_id: stored.id } })}
        preview={(draft) => (
          <PerkCard
            title={draft.title}
            callout={draft.callout}
            description={draft.description}
            redemptionNote={draft.redemption_note}
            details={draft.details}
            partner={draft.partner.name}
            banner={draft.media?.banner}
            logo={draft.media?.logo}
            categories={draft.categories.map(nameOf)}
            places={(draft.locations ?? []) as StoredPerk['locations']}
            coupon={draft.coupon ?? undefined}
            isCouponPerk={draft.is_coupon_perk ?? false}
            metadata={draft.metadata ?? ''}
          />
        )}
        fields={(draft, change, errorOf) => {
          const kind = kindOf(draft);
          const picture = (name: 'banner' | 'logo') => (
            <div className="with-picture picture-field">
              <PerkPicture src={draft.media?.[name]} name={draft.title || '?'} />
              <TextField
                label={t[name]}
                type="url"
                error={errorOf(`media.${name}`)}
                value={draft.media?.[name] ?? ''}
                onValue={(url) => change({ media: { ...draft.media, [name]: url || null } })}
              />
            </div>
          );
          return (
            <>
              <FieldGroup legend={t.offer}>
                <TextField
                  label={t.title}
                  className="wide"
                  required
                  maxLength={300}
                  error={errorOf('title')}
                  value={draft.title}
                  onValue={(title) =>
                    change({ title, offer_slug: idOf(draft.offer_slug, draft.title, title) })
                  }
                />
                <TextField
                  label={t.callout}
                  maxLength={1_000}
                  error={errorOf('callout')}
                  value={draft.callout}
                  onValue={(callout) => change({ callout })}
                />
                <TextField
                  label={t.offerUrl}
                  type="url"
                  required
                  error={errorOf('offer_url')}
                  value={draft.offer_url}
                  onValue={(offer_url) => change({ offer_url })}
                />
                <TextArea
                  label={t.description}
                  className="wide"
                  error={errorOf('description')}
                  value={draft.description}
                  onValue={(description) => change({ description })}
                />
                <TextArea
                  label={t.details}
                  className="wide"
                  error={errorOf('details')}
                  value={draft.details}
                  onValue={(details) => change({ details })}
                />
              </FieldGroup>
              <FieldGroup legend={t.redeeming}>
                <SelectField
                  label={t.kind}
                  hint={kind === 'single' && t.codesLater}
                  value={kind}
                  options={texts.perks.kinds}
                  onValue={(value) => change(changesOfKind(value as Kind, draft.codes_per_account))}
                />
                <TextField
                  label={t.redemptionNote}
                  error={errorOf('redemption_note')}
                  value={draft.redemption_note}
                  onValue={(redemption_note) => change({ redemption_note })}
                />
                {kind === 'coupon' && (
                  <TextField
                    label={t.coupon}
                    required
                    maxLength={255}
                    error={errorOf('coupon')}
                    value={draft.coupon ?? ''}
                    onValue={(coupon) => change({ coupon })}
                  />
                )}
                {kind === 'single' && (
                  <TextField
                    label={t.codesPerAccount}
                    type="number"
                    min={1}
                    step={1}
                    hint={t.codesPerAccountHint}
                    error={errorOf('codes_per_account')}
                    value={draft.codes_per_account ?? ''}
                    onValue={(codes) =>
                      change({ codes_per_account: codes === '' ? undefined : Number(codes) })
                    }
                  />
                )}
              </FieldGroup>
              <FieldGroup legend={t.partnerAndPictures}>
                <TextField
                  label={t.partner}
                  required
                  list="partners"
                  error={errorOf('partner.name')}
                  value={draft.partner.name}
                  onFocus={() => setPartnerBefore(draft.partner)}
                  onValue={(name) =>
                    change({
                      partner: {
                        ...draft.partner,
                        name,
                        id: partnerIdOf(partnerBefore ?? draft.partner, name),
                      },
                    })
                  }
                />
                <datalist id="partners">
                  {[...partners.keys()].map((name) => (
                    <option key={name} value={name} />
                  ))}
                </datalist>
                <TextField
                  label={t.partnerId}
                  required
                  hint={t.madeFromName}
                  error={errorOf('partner.id')}
                  value={draft.partner.id}
                  onValue={(partnerId) => change({ partner: { ...draft.partner, id: partnerId } })}
                />
                {picture('banner')}
                {picture('logo')}
              </FieldGroup>
              <FieldGroup legend={t.finding}>
                <fieldset
                  className="wide"
                  aria-describedby={errorOf('categories') ? 'categories-error' : undefined}
                >
                  <legend className="legend-label">{t.categories}</legend>
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
                  {errorOf('categories') && (
                    <p className="field-error" id="categories-error">
                      {errorOf('categories')}
                    </p>
                  )}
                </fieldset>
                <TextArea
                  label={t.metadata}
                  rows={3}
                  hint={t.metadataHint}
                  error={errorOf('metadata')}
                  value={draft.metadata ?? ''}
                  onValue={(metadata) => change({ metadata })}
                />
                <PlacesField
                  places={draft.locations ?? []}
                  error={errorOf('locations')}
                  onPlaces={(locations) => change({ locations })}
                />
                <TextField
                  label={t.offerSlug}
                  required
                  hint={t.madeFromTitle}
                  error={errorOf('offer_slug')}
                  value={draft.offer_slug}
                  onValue={(offer_slug) => change({ offer_slug })}
                />
              </FieldGroup>
              <OwnTranslations
                translations={draft.translations}
                error={errorOf('translations')}
                onTranslations={(translations) => change({ translations })}
                texts={PERK_TEXTS.map((name) => ({
                  name,
                  label: labelsOf('perks')[name]!,
                  original: draft[name],
                  isLong: ['description', 'details'].includes(name),
                }))}
              />
            </>
          );
        }}
      />
      {id !== null && <CouponCodes perkId={id} />}
    </>
  );
}

interface PlacesProps {
  places: Places;
  error: string | null;
  onPlaces: (places: Places) => void;
}

/** Keeps the text as typed, because places alone do not have its line breaks. */
function PlacesField({ places, error, onPlaces }: PlacesProps) {
  const [typed, setTyped] = useState(() => textOf(places));
  // Places that changed elsewhere, as after a merge.
  const text = textOf(placesOf(typed, '\n')) === textOf(places) ? typed : textOf(places);
  return (
    <TextArea
      label={t.locations}
      rows={3}
      hint={t.locationsHint}
      error={error}
      value={text}
      onValue={(changed) => {
        setTyped(changed);
        onPlaces(placesOf(changed, '\n'));
      }}
    />
  );
}
