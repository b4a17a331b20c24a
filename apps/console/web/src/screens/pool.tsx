import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useNavigate, useParams } from 'react-router';
import { ACCOUNTS, pathOf, POOLS } from '../api/managed';
import { responseOf } from '../api/perkway';
import type { CodeFormat, Product, PutPool, StoredPool } from '../api/types';
import { formatMoney, formatNumber } from '../format';
import { AccountField, AccountLink, NoBrand, useAccountName } from '../parts/account-field';
import { CopyButton } from '../parts/copy-button';
import { SelectField, TextArea, TextField } from '../parts/fields';
import { rateOf, useStock } from '../api/stock';
import { Lasts } from '../parts/lasts';
import { Loaded } from '../parts/loaded';
import { LogoField } from '../parts/logo-field';
import { NoProduct } from '../parts/no-product';
import { Card, Screen } from '../parts/screen';
import { ResourceEditor } from '../parts/resource-editor';
import { Table } from '../parts/table';
import { OwnTranslations } from '../parts/translations';
import { LimitsOf } from '../parts/used-in';
import { texts } from '../texts';
import { CardLoads } from './card-loads';
import { Withdrawals } from './withdrawals';

const t = texts.pools;

interface Draft {
  owner: string;
  name: string;
  instructions: string;
  redeem_url: string;
  terms_url: string;
  logo: string | null;
  color: string;
  code_format: CodeFormat;
  translations: Product['translations'];
}
const BLANK: Draft = {
  owner: '',
  name: '',
  instructions: '',
  redeem_url: '',
  terms_url: '',
  logo: null,
  color: '',
  code_format: 'text',
  translations: {},
};

export default function PoolScreen() {
  const { poolId = '' } = useParams();
  return <Pool key={poolId} id={poolId === 'new' ? null : poolId} />;
}

function Pool({ id }: { id: string | null }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const [newId] = useState(() => crypto.randomUUID());
  const [name, setName] = useState('');
  const [isMissing, setMissing] = useState(false);
  const isStored = id !== null && !isMissing;
  const pool = usePool(id, isStored).data;
  const owner = pool?.owner;
  const account = useAccountName(owner ?? '');
  const title = id ? name || t.of(id.slice(0, 8)) : t.create;
  return (
    <Screen
      title={title}
      intro={
        id && (
          <>
            {owner && (
              <>
                <AccountLink id={owner} /> ·{' '}
              </>
            )}
            <code>{id}</code> <CopyButton text={id} of={t.id} />
          </>
        )
      }
      back={{ to: '/pools', label: texts.nav.pools }}
    >
      {isStored && (
        <>
          {owner && (
            <NoBrand id={owner}>
              <Link to={pathOf(ACCOUNTS, owner)}>{texts.accounts.setBrand}</Link>
            </NoBrand>
          )}
          {pool && <NoProduct product={pool.product} />}
          <Stock poolId={id} />
          <CardLoads poolId={id} />
          {owner && <Withdrawals poolId={id} owner={owner} of={`${title} (${account})`} />}
        </>
      )}
      <ResourceEditor<StoredPool, Draft, PutPool>
        kind={POOLS}
        id={id}
        nameOf={({ product }) => product?.name ?? ''}
        onNamed={(stored) => {
          setName(stored);
          setMissing(false);
        }}
        onMissing={() => setMissing(true)}
        keptBecause={({ inventories }) => (inventories.length > 0 ? t.kept : null)}
        usedIn={({ id, owner }) => <LimitsOf owner={owner} isOf={(only) => only.pool_id === id} />}
        makeId={() => newId}
        idHint={t.idHint}
        blank={BLANK}
        toDraft={({ owner, product }) => ({
          owner,
          name: product?.name ?? '',
          instructions: product?.instructions ?? '',
          redeem_url: product?.redeem_url ?? '',
          terms_url: product?.terms_url ?? '',
          logo: product?.logo ?? null,
          color: product?.color ?? '',
          code_format: product?.code_format ?? 'text',
          translations: product?.translations ?? {},
        })}
        toBody={(draft) => ({
          owner: draft.owner,
          product: draft.name
            ? {
                name: draft.name,
                instructions: draft.instructions || null,
                redeem_url: draft.redeem_url || null,
                terms_url: draft.terms_url || null,
                logo: draft.logo,
                color: draft.color || null,
                code_format: draft.code_format,
                translations: draft.translations,
              }
            : null,
        })}
        fields={(draft, change, errorOf) => (
          <>
            <AccountField value={draft.owner} onValue={(owner) => change({ owner })} />
            <TextField
              label={t.name}
              hint={t.nameHint}
              maxLength={100}
              value={draft.name}
              onValue={(name) => change({ name })}
            />
            <TextArea
              label={t.instructions}
              className="wide"
              maxLength={2000}
              value={draft.instructions}
              onValue={(instructions) => change({ instructions })}
            />
            <TextField
              label={t.redeemUrl}
              type="url"
              value={draft.redeem_url}
              onValue={(redeem_url) => change({ redeem_url })}
            />
            <TextField
              label={t.termsUrl}
              type="url"
              value={draft.terms_url}
              onValue={(terms_url) => change({ terms_url })}
            />
            <LogoField label={t.logo} value={draft.logo} onValue={(logo) => change({ logo })} />
            <TextField
              label={t.color}
              hint={texts.accounts.colorHint}
              pattern="#[0-9a-fA-F]{6}"
              value={draft.color}
              onValue={(color) => change({ color })}
            />
            <SelectField
              label={t.codeFormat}
              value={draft.code_format}
              options={t.formats}
              onValue={(code_format) => change({ code_format: code_format as CodeFormat })}
            />
            <OwnTranslations
              translations={draft.translations}
              error={errorOf('product.translations')}
              onTranslations={(translations) => change({ translations })}
              texts={[
                { name: 'name', label: t.name, original: draft.name },
                { name: 'instructions', label: t.instructions, original: draft.instructions, isLong: true },
              ]}
            />
          </>
        )}
        onSaved={(saved) =>
          id === null
            ? void navigate(`/pools/${encodeURIComponent(saved)}`)
            : void client.invalidateQueries({ queryKey: ['stock', id] })
        }
        onDeleted={() => void navigate('/pools')}
      />
    </Screen>
  );
}

const usePool = (poolId: string | null, enabled = true) =>
  useQuery({ queryKey: ['stock', poolId], enabled, queryFn: () => responseOf(POOLS.read(poolId!)) });

function Stock({ poolId }: { poolId: string }) {
  const pool = usePool(poolId);
  const rates = useStock(poolId);
  const g = texts.giftCards;
  return (
    <Card className="dense" title={t.stock} note={g.lastsNote}>
      <Loaded query={pool} isEmpty={({ inventories }) => inventories.length === 0} empty={<p>{t.noCards}</p>}>
        {({ inventories }) => (
          <Table
            caption={t.stock}
            rows={inventories}
            keyOf={({ denomination, currency, country }) => [denomination, currency, country].join()}
            columns={[
              {
                name: g.value,
                isHead: true,
                cell: ({ denomination, currency }) => formatMoney(denomination, currency),
              },
              { name: g.country, cell: ({ country }) => country },
              { name: g.available, isNumber: true, cell: ({ available }) => formatNumber(available) },
              { name: g.reserved, isNumber: true, cell: ({ reserved }) => formatNumber(reserved) },
              { name: g.redeemed, isNumber: true, cell: ({ redeemed }) => formatNumber(redeemed) },
              { name: g.withdrawn, isNumber: true, cell: ({ withdrawn }) => formatNumber(withdrawn) },
              { name: g.lapsedCards, isNumber: true, cell: ({ lapsed }) => formatNumber(lapsed) },
              {
                name: g.lasts,
                isNumber: true,
                cell: (entry) => <Lasts stock={rateOf(rates.data, poolId, entry)} />,
              },
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
}
