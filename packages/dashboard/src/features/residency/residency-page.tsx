// Which data is where: the demand of each deployment, and whether each place meets it and was attested.

import { Button } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { explainFailure, type FailureText } from '../../api/failure.ts'
import { useResidency, useWholeResidency } from '../../api/resources/use-residency.ts'
import { useSession } from '../../api/session.tsx'
import { Failed } from '../../parts/failed.tsx'
import { ListPage, ListTools, Teaching } from '../../parts/resource/list-page.tsx'
import { matchingNames } from '../../parts/resource/matching-names.ts'
import { RecordList } from '../../parts/resource/record-list.tsx'
import { residencyTexts } from '../../texts/en/residency.ts'
import { resourceTexts } from '../../texts/en/resources.ts'
import { resourceEquivalents } from '../../texts/resource-commands.ts'
import { residencyColumns } from './residency-columns.tsx'
import { residencyCsv, residencyRows } from './residency-rows.ts'
import { saveFile } from './save-file.ts'

const route = getRouteApi('/t/$tenant/residency')

export function ResidencyPage() {
  const { q } = route.useSearch()
  const navigate = route.useNavigate()
  const { tenant } = useSession()
  const { items, error, hasMore, readMore } = useResidency()
  const columns = useMemo(() => residencyColumns(tenant), [tenant])
  const rows = useMemo(() => (items === undefined ? undefined : residencyRows(items)), [items])
  return (
    <ListPage
      title={residencyTexts.title}
      count={
        rows === undefined
          ? undefined
          : residencyTexts.count(rows.length, rows.filter(({ holds }) => !holds).length)
      }
      actions={<Download />}
      same={resourceEquivalents.residency()}
    >
      <ListTools
        q={q}
        filters={rows !== undefined && rows.length > 0}
        outcome={{ kind: 'idle' }}
        onChange={(next) => void navigate({ search: next === undefined ? {} : { q: next }, replace: true })}
      />
      <RecordList
        columns={columns}
        items={rows === undefined ? undefined : matchingNames(rows, q)}
        failure={error === null ? undefined : explainFailure(error)}
        hasMore={hasMore}
        keyOf={({ key }) => key}
        onEnd={readMore}
        unmatched={q === undefined ? undefined : resourceTexts.noMatch}
        empty={
          <Teaching
            title={residencyTexts.emptyTitle}
            next={residencyTexts.emptyNext}
            command={residencyTexts.emptyCommand}
          />
        }
      />
    </ListPage>
  )
}

/** The whole report as a file, whatever the filter shows. */
function Download() {
  const readWhole = useWholeResidency()
  const [failure, setFailure] = useState<FailureText>()
  const download = async (): Promise<void> => {
    try {
      saveFile(residencyTexts.file, 'text/csv', residencyCsv(residencyRows(await readWhole())))
      setFailure(undefined)
    } catch (error) {
      setFailure(explainFailure(error))
    }
  }
  return (
    <>
      <Button variant="default" size="compact-sm" onClick={() => void download()}>
        {residencyTexts.download}
      </Button>
      {failure === undefined ? null : <Failed {...failure} />}
    </>
  )
}
