// Why a job has no node: each node with each reason, and the remedies.

import { explainFailure } from '../../api/failure.ts'
import { useJobWhy } from '../../api/resources/use-jobs.ts'
import { CureList } from '../../parts/cure-list.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Matrix } from '../../parts/matrix.tsx'
import { rowOfCandidate } from '../../parts/matrix-rows.ts'

export function JobWhy({ id }: { readonly id: string }) {
  const { data: why, error } = useJobWhy(id, true)
  if (error !== null) return <Failed {...explainFailure(error)} />
  if (why === undefined) return <Loading />
  return (
    <>
      {why.cure.length === 0 ? null : <CureList remedies={why.cure.map((text) => ({ text, how: [] }))} />}
      {why.candidates.length === 0 ? null : <Matrix rows={why.candidates.map(rowOfCandidate)} />}
    </>
  )
}
