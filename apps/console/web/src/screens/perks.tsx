import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { readCollection, useCollectionIds } from '../api/collections';
import type { Perk } from '../api/types';
import { SelectField, TextField } from '../parts/fields';
import { Empty, Loaded } from '../parts/loaded';
import { lastDays } from '../dates';
import { PerkCard } from '../parts/perk-card';
import { Screen } from '../parts/screen';
import { useSearchFilters } from '../parts/search-filters';
import { texts } from '../texts';
import { ClickLinks, useClicksByPerk } from './perk-clicks';
import { PerkTable } from './perk-table';

const t = texts.perks;
const PAGE = 24;
const DAYS = 30;

const matches = ({ title, callout, description, metadata, relations }: Perk, words: string[]) => {
  const text = [title, callout, description, metadata, relations.partner.name].join(' ').toLowerCase();
  return words.every((word) => text.includes(word));
};

export default function Perks() {
  const { valueOf, set } = useSearchFilters();
  const ids = useCollectionIds();
  const chosen = valueOf('collection') || ids.data?.[0];
  const sought = valueOf('q');
  const view = valueOf('view');
  const words = useDeferredValue(sought).toLowerCase().split(/\s+/).filter(Boolean);
  const collection = useQuery({
    queryKey: ['collection', chosen],
    enabled: chosen !== undefined,
    queryFn: ({ signal }) => readCollection(chosen!, signal),
  });
  const range = lastDays(DAYS).now;
  const clicks = useClicksByPerk(range);
  const figuresOf = (perkId: string) => {
    const clicked = clicks.data?.get(perkId);
    if (!clicked?.clicks) return clicks.isSuccess && t.noClicks(DAYS);
    return (
      <>
        {t.clicks(DAYS)} <ClickLinks perkId={perkId} byCube={clicked.byCube} range={range} />
      </>
    );
  };
  // A phone would scroll for minutes through all perks of a large collection.
  const [shownAtMost, setShownAtMost] = useState(PAGE);
  const cards = (perks: Perk[]) => (
    <ul className="perk-grid">
      {perks.map((perk) => (
        <li key={perk.id}>
          <PerkCard
            title={perk.title}
            callout={perk.callout}
            description={perk.description}
            redemptionNote={perk.redemption_note}
            details={perk.details}
            partner={perk.relations.partner.name}
            banner={perk.relations.media.banner}
            logo={perk.relations.media.logo}
            categories={perk.relations.categories.map(({ name }) => name)}
            places={perk.relations.locations}
            coupon={perk.coupon}
            isCouponPerk={perk.is_coupon_perk}
            metadata={perk.metadata}
            figures={figuresOf(String(perk.id))}
          />
        </li>
      ))}
    </ul>
  );
  const more = (all: number) =>
    all > shownAtMost && (
      <button type="button" className="button" onClick={() => setShownAtMost(shownAtMost + PAGE)}>
        {texts.more}
      </button>
    );

  return (
    <Screen title={texts.nav.perks} intro={t.intro} zone={null}>
      <Loaded
        query={ids}
        isEmpty={(list) => list.length === 0}
        empty={
          <Empty title={t.emptyTitle}>
            <p>{t.emptyText}</p>
          </Empty>
        }
      >
        {(list) => (
          <>
            <div className="form">
              <SelectField
                label={t.collection}
                value={chosen}
                options={[...new Set([...list, chosen!])].map((id) => ({ value: id, label: id }))}
                onValue={(id) => set('collection', id)}
              />
              <SelectField
                label={t.show}
                value={Object.hasOwn(t.shows, view) ? view : 'cards'}
                options={t.shows}
                onValue={(value) => set('view', value === 'cards' ? '' : value)}
              />
              <TextField
                label={t.find}
                type="search"
                hint={t.findHint}
                value={sought}
                onValue={(value) => set('q', value)}
              />
            </div>
            <Loaded query={collection} lines={9}>
              {({ groups, perks }) => {
                const found = perks.filter((perk) => matches(perk, words));
                // A perk may be in several groups.
                const different = [...new Map(found.map((perk) => [perk.id, perk])).values()];
                const count = (
                  <p className="hint" role="status">
                    {t.count(found.length, perks.length)}
                  </p>
                );
                if (view === 'table')
                  return (
                    <>
                      {count}
                      <PerkTable
                        collection={chosen!}
                        perks={different}
                        clicks={clicks}
                        range={range}
                        note={t.tableNote(DAYS)}
                      />
                    </>
                  );
                if (view === 'clicked')
                  return (
                    <>
                      {count}
                      <Loaded query={clicks} lines={9}>
                        {(byPerk) => {
                          const clicksOf = ({ id }: Perk) => byPerk.get(String(id))?.clicks ?? 0;
                          return cards(
                            different
                              .toSorted((one, other) => clicksOf(other) - clicksOf(one))
                              .slice(0, shownAtMost),
                          );
                        }}
                      </Loaded>
                      {more(different.length)}
                    </>
                  );
                const matching = groups.map((group) => group.perks.filter((perk) => matches(perk, words)));
                /** The number of matching perks in the groups before this one. */
                const countBefore = (index: number) => matching.slice(0, index).flat().length;
                return (
                  <>
                    {count}
                    {groups.map((group, index) => {
                      const shown = matching[index]!.slice(0, Math.max(0, shownAtMost - countBefore(index)));
                      if (shown.length < matching[index]!.length && shown.length === 0) return null;
                      return (
                        <section key={group.id} className="stack" aria-label={group.name}>
                          <h2>{group.name}</h2>
                          {shown.length === 0 ? <p className="hint">{t.emptyGroup}</p> : cards(shown)}
                        </section>
                      );
                    })}
                    {more(countBefore(groups.length))}
                  </>
                );
              }}
            </Loaded>
          </>
        )}
      </Loaded>
    </Screen>
  );
}
