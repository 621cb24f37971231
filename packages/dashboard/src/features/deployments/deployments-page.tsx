// The list of deployments. The server filters; only the rows in view are in the document.

import { DEPLOYMENT_PHASES } from '@holdfast/contract'
import { Button, TextInput } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import { explainFailure } from '../../api/failure.ts'
import { useSession } from '../../api/session.tsx'
import { type DeploymentFilter, useDeployments } from '../../api/use-deployments.ts'
import { CliFoot } from '../../parts/cli-foot.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { equivalents } from '../../texts/commands.ts'
import { texts } from '../../texts/en.ts'
import { DeploymentTable } from './deployment-table.tsx'
import styles from './deployments-page.module.css'

const route = getRouteApi('/t/$tenant/deployments')

export function DeploymentsPage() {
  const filter = route.useSearch()
  const navigate = route.useNavigate()
  const { items, error, hasMore, isOld, readMore } = useDeployments(filter)
  const change = (next: DeploymentFilter): void =>
    void navigate({ search: withoutEmpty(next), replace: true })
  return (
    <div className={styles.page}>
      <PageHead
        title={texts.deployments.title}
        aside={
          items === undefined ? null : (
            <span className={styles.count}>{texts.deployments.count(items.length, hasMore)}</span>
          )
        }
        actions={<New />}
      />
      <Filter filter={filter} onChange={change} />
      {error === null ? null : <Failed {...explainFailure(error)} />}
      {items === undefined && error === null ? <Loading lines={8} /> : null}
      {items?.length === 0 ? <None onClear={() => change({})} /> : null}
      {items === undefined || items.length === 0 ? null : (
        <div aria-busy={isOld} {...(isOld ? { 'data-stale': true } : {})}>
          <DeploymentTable items={items} hasMore={hasMore} onEnd={readMore} />
        </div>
      )}
      <CliFoot same={equivalents.deployments(filter)} />
    </div>
  )
}

const withoutEmpty = ({ q = '', phase }: DeploymentFilter): DeploymentFilter => ({
  ...(q === '' ? {} : { q }),
  ...(phase === undefined ? {} : { phase }),
})

interface FilterProps {
  readonly filter: DeploymentFilter
  onChange(filter: DeploymentFilter): void
}

function Filter({ filter, onChange }: FilterProps) {
  const choices = [undefined, ...DEPLOYMENT_PHASES]
  return (
    <div className={styles.filter}>
      <TextInput
        aria-label={texts.deployments.filter}
        placeholder={texts.deployments.filter}
        size="xs"
        data-filter
        defaultValue={filter.q ?? ''}
        onChange={(event) => onChange({ ...filter, q: event.currentTarget.value })}
      />
      <fieldset className={styles.phases} aria-label={texts.deployments.phase}>
        {choices.map((phase) => (
          <button
            key={phase ?? ''}
            type="button"
            className={styles.phase}
            aria-pressed={filter.phase === phase}
            onClick={() => onChange({ ...filter, phase })}
          >
            {phase ?? texts.deployments.allPhases}
          </button>
        ))}
      </fieldset>
    </div>
  )
}

function New() {
  const { tenant } = useSession()
  return (
    <Link to="/t/$tenant/deployments/new" params={{ tenant }} className={styles.new}>
      {texts.editor.new}
    </Link>
  )
}

function None({ onClear }: { onClear(): void }) {
  return (
    <div className={styles.none}>
      <p>{texts.deployments.none}</p>
      <Button variant="default" size="compact-sm" onClick={onClear}>
        {texts.deployments.clear}
      </Button>
    </div>
  )
}
