// The secrets of the tenant: paths, versions and consumers. Paths that a deployment waits for come first.

import type { SecretReference, SecretSummary } from '@holdfast/contract'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { explainFailure } from '../../api/failure.ts'
import { useSecretReferences, useSecrets } from '../../api/secrets/use-secrets.ts'
import { useSession } from '../../api/session.tsx'
import { CliFoot } from '../../parts/cli-foot.tsx'
import { Failed } from '../../parts/failed.tsx'
import { LinkButton } from '../../parts/forms/link-button.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Notice } from '../../parts/notice.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PlainLink } from '../../parts/plain-link.tsx'
import { type Column, VirtualTable } from '../../parts/virtual-table.tsx'
import { secretEquivalents } from '../../texts/commands/secrets.ts'
import { texts } from '../../texts/en.ts'
import styles from './secrets-page.module.css'

const words = texts.secrets

export function SecretsPage() {
  const { tenant } = useSession()
  const { data, error } = useSecrets()
  const { data: references = [] } = useSecretReferences()
  const columns = useMemo(() => columnsOf(tenant), [tenant])
  const missing = references.filter(({ hasMaterial }) => !hasMaterial)
  return (
    <div className={styles.page}>
      <PageHead
        title={words.page}
        aside={
          <span className={styles.count}>
            {data === undefined ? null : `${words.count(data.length)}. `}
            {words.note}
          </span>
        }
        actions={
          <LinkButton to="/t/$tenant/secrets/new" params={{ tenant }} search={{}}>
            {words.write}
          </LinkButton>
        }
      />
      {missing.map((reference) => (
        <Missing key={reference.path} reference={reference} />
      ))}
      {error === null ? null : <Failed {...explainFailure(error)} />}
      {data === undefined && error === null ? <Loading lines={6} /> : null}
      {data?.length === 0 && missing.length === 0 ? <NoSecrets /> : null}
      {data === undefined || data.length === 0 ? null : (
        <VirtualTable
          columns={columns}
          items={data}
          keyOf={({ path }) => path}
          hasMore={false}
          onEnd={() => {}}
        />
      )}
      <CliFoot same={secretEquivalents.list()} />
    </div>
  )
}

function Missing({ reference: { path, consumers } }: { readonly reference: SecretReference }) {
  const { tenant } = useSession()
  return (
    <Notice severity="warning" title={words.missingTitle(path)}>
      <p>
        {words.missingNext(consumers)}{' '}
        <Link to="/t/$tenant/secrets/new" params={{ tenant }} search={{ path }}>
          {words.writeIt(path)}
        </Link>
      </p>
    </Notice>
  )
}

function NoSecrets() {
  return (
    <Notice severity="info" title={words.emptyTitle}>
      <p>{words.emptyNext}</p>
      {words.emptyCommands.map((command) => (
        <code key={command}>{command}</code>
      ))}
    </Notice>
  )
}

const columnsOf = (tenant: string): readonly Column<SecretSummary>[] => [
  {
    title: words.path,
    width: '32%',
    narrow: 'start',
    cell: ({ path, namespace, resource }) => (
      <PlainLink
        to="/t/$tenant/secrets/$namespace/$resource"
        params={{ tenant, namespace, resource }}
        data-row
      >
        {path}
      </PlainLink>
    ),
    hint: ({ path }) => path,
  },
  {
    title: words.newest,
    width: '110px',
    narrow: 'end',
    cell: ({ versions }) => newestOf(versions),
  },
  {
    title: words.written,
    width: '100px',
    narrow: 'below-end',
    cell: ({ versions }) => {
      const iso = versions.at(-1)?.createdAt
      return iso === undefined ? null : <Moment iso={iso} age />
    },
  },
  {
    title: words.consumers,
    narrow: 'below',
    cell: ({ consumers }) => consumers.join(', ') || words.unused,
    hint: ({ consumers }) => consumers.join(', '),
  },
  {
    title: words.keys,
    narrow: 'hidden',
    cell: ({ versions }) => (versions.at(-1)?.keys ?? []).join(', '),
    hint: ({ versions }) => (versions.at(-1)?.keys ?? []).join(', '),
  },
]

function newestOf(versions: SecretSummary['versions']): string {
  const newest = versions.at(-1)
  if (newest === undefined) return words.none
  return newest.staged ? `${words.version(newest.version)} (staged)` : words.version(newest.version)
}
