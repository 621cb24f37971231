// One tenant, for platform administrators: a link to act in it, a token for its people, and its quotas.

import { getRouteApi } from '@tanstack/react-router'
import { explainFailure, isNotFound } from '../../api/failure.ts'
import { useTenant } from '../../api/platform/use-platform.ts'
import { CliFoot } from '../../parts/cli-foot.tsx'
import { Failed } from '../../parts/failed.tsx'
import { LinkButton } from '../../parts/forms/link-button.tsx'
import { Loading } from '../../parts/loading.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PhaseBadge } from '../../parts/phase-badge.tsx'
import { platformEquivalents } from '../../texts/commands/platform.ts'
import { texts } from '../../texts/en.ts'
import { QuotaForm } from './quota-form.tsx'
import styles from './tenant-page.module.css'
import { TokenForm } from './token-form.tsx'

const route = getRouteApi('/platform/tenants/$id')
const words = texts.platform.tenant

/** Another tenant has another page: no token of the one before may stay. */
export function TenantPage() {
  const { id } = route.useParams()
  return <TenantOf key={id} id={id} />
}

function TenantOf({ id }: { readonly id: string }) {
  const { data: tenant, error, refetch } = useTenant(id)
  if (error !== null && isNotFound(error)) return <PageHead title={texts.failures.notFound(words.unknown)} />
  return (
    <div className={styles.page}>
      <PageHead
        title={tenant?.name ?? words.name}
        aside={
          tenant?.deleting === true ? (
            <PhaseBadge word="Deleting" label={words.deleting} />
          ) : tenant?.platform === true ? (
            <span className={styles.muted}>{words.own}</span>
          ) : null
        }
        actions={
          tenant === undefined ? null : (
            <LinkButton to="/t/$tenant" params={{ tenant: id }}>
              {words.act(tenant.name)}
            </LinkButton>
          )
        }
      />
      {error === null ? null : <Failed {...explainFailure(error)} onRetry={() => void refetch()} />}
      {tenant === undefined && error === null ? <Loading lines={6} /> : null}
      {tenant === undefined ? null : (
        <>
          <TokenForm tenant={tenant} />
          <QuotaForm tenant={tenant} />
          <CliFoot same={platformEquivalents.tenant(tenant.name, id)} />
        </>
      )}
    </div>
  )
}
