// One secret: its versions and who uses which, a new version, and its end.

import type { SecretConsumer, SecretSummary } from '@holdfast/contract'
import { getRouteApi, Link } from '@tanstack/react-router'
import { explainFailure } from '../../api/failure.ts'
import { useSecretConsumers, useSecrets } from '../../api/secrets/use-secrets.ts'
import { useSession } from '../../api/session.tsx'
import { CliFoot } from '../../parts/cli-foot.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Moment } from '../../parts/moment.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Panel } from '../../parts/panel.tsx'
import { secretEquivalents } from '../../texts/commands/secrets.ts'
import { texts } from '../../texts/en.ts'
import { DeleteSecret } from './delete-secret.tsx'
import { SecretForm } from './secret-form.tsx'
import styles from './secret-page.module.css'

const route = getRouteApi('/t/$tenant/secrets/$namespace/$resource')
const words = texts.secrets

/** Another secret has another page: nothing that was typed for the one before may stay. */
export function SecretPage() {
  const { namespace, resource } = route.useParams()
  const path = `${namespace}/${resource}`
  return <SecretOf key={path} path={path} />
}

function SecretOf({ path }: { readonly path: string }) {
  const { data, error, refetch } = useSecrets()
  const secret = data?.find((each) => each.path === path)
  if (data !== undefined && secret === undefined) return <Unknown path={path} />
  return (
    <div className={styles.page}>
      <PageHead
        title={path}
        aside={<span className={styles.muted}>{words.note}</span>}
        actions={secret === undefined ? null : <DeleteSecret secret={secret} />}
      />
      {error === null ? null : <Failed {...explainFailure(error)} onRetry={() => void refetch()} />}
      {data === undefined && error === null ? <Loading lines={6} /> : null}
      {secret === undefined ? null : <Content secret={secret} />}
      <CliFoot same={secretEquivalents.consumers(path)} />
    </div>
  )
}

function Content({ secret }: { readonly secret: SecretSummary }) {
  return (
    <>
      <Consumers path={secret.path} newest={secret.versions.findLast(({ staged }) => !staged)?.version} />
      <Panel title={words.versions} aside={words.versionsNote}>
        <ul className={styles.list}>
          {secret.versions.toReversed().map((version) => (
            <Version key={version.version} version={version} />
          ))}
        </ul>
      </Panel>
      <SecretForm title={words.form.title} path={secret.path} keys={secret.versions.at(-1)?.keys ?? []} />
    </>
  )
}

function Version({
  version: { version, createdAt, keys, staged, pinnedBy },
}: {
  readonly version: SecretSummary['versions'][number]
}) {
  return (
    <li>
      <strong>{words.version(version)}</strong>
      <Moment iso={createdAt} />
      <span>
        {words.keys}: {keys === undefined ? words.hiddenKeys : keys.join(', ')}
      </span>
      <span className={styles.muted}>
        {staged ? words.staged : pinnedBy.length === 0 ? words.unused : pinnedBy.join(', ')}
      </span>
    </li>
  )
}

interface ConsumersProps {
  readonly path: string
  /** The newest version that is not staged. */
  readonly newest: number | undefined
}

function Consumers({ path, newest }: ConsumersProps) {
  const { data, error } = useSecretConsumers(path)
  return (
    <Panel title={words.consumers} aside={data === undefined ? null : String(data.length)}>
      {error === null ? null : <Failed {...explainFailure(error)} />}
      {data === undefined && error === null ? <Loading lines={2} /> : null}
      {data?.length === 0 ? <p className={styles.none}>{words.noConsumers}</p> : null}
      {data === undefined || data.length === 0 ? null : <p className={styles.none}>{words.rotateHint}</p>}
      <ul className={`${styles.list} ${styles.consumers}`}>
        {(data ?? []).map((consumer) => (
          <Consumer
            key={`${consumer.deployment} ${consumer.secret} ${consumer.canary}`}
            consumer={consumer}
            newest={newest}
          />
        ))}
      </ul>
    </Panel>
  )
}

interface ConsumerProps {
  readonly consumer: SecretConsumer
  readonly newest: number | undefined
}

function Consumer({ consumer, newest }: ConsumerProps) {
  const { tenant } = useSession()
  const { deployment: name, secret, version, canary } = consumer
  const older = version !== null && newest !== undefined && version < newest && canary !== true
  return (
    <li>
      {name.startsWith('job/') ? (
        <strong>{name}</strong>
      ) : (
        <Link
          to="/t/$tenant/deployments/$name/rotation"
          params={{ tenant, name }}
          className={styles.link}
          data-row
        >
          {canary === true ? `${name} (${words.canary})` : name}
        </Link>
      )}
      <code>{secret}</code>
      <span>{version === null ? words.noVersion : words.version(version)}</span>
      <span className={styles.muted}>{older ? words.olderNext : null}</span>
    </li>
  )
}

function Unknown({ path }: { readonly path: string }) {
  const { tenant } = useSession()
  return (
    <div className={styles.page}>
      <PageHead title={texts.failures.notFound(words.unknown(path))} />
      <p>
        {texts.pages.notFoundNext}{' '}
        <Link to="/t/$tenant/secrets" params={{ tenant }}>
          {words.all}
        </Link>
      </p>
    </div>
  )
}
