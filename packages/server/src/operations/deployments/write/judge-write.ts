// The checks that create and update of a deployment share: gathers the facts, applies the admission rules on facts, and
// checks that the revision fits into one transaction (docs/design/admission.md#order).

import type { Alteration, TenantId, Warning } from '@holdfast/contract'
import { checkFacts, followVolumes, type Normalised } from '@holdfast/core'
import type { Transaction } from '../../../store/transaction.ts'
import { type Caller, done, type Outcome, refused, refusedBy } from '../../caller.ts'
import type { DeploymentDeps } from '../deps.ts'
import { checkRoom, checkSpecSize } from './check-size.ts'
import { gatherVolumes, type MountsQuestion } from './claim-volumes.ts'
import { type FactsRequest, gatherFacts, MOST_COMPARED, unresolvedBy } from './gather-facts.ts'
import type { SecretsOfWrite } from './judge-secrets.ts'
import { identifySpec, type SpecIdentity } from './store-deployment.ts'

export interface WriteToJudge extends Omit<FactsRequest, 'spec'> {
  readonly normalised: Normalised
  readonly identity: SpecIdentity
  readonly secrets: SecretsOfWrite
  /** Whether the write restores a backup. */
  readonly restores: boolean
}

export interface JudgedWrite {
  readonly imageDigest: string | null
  /** Why the digest of the image is still unknown; undefined if it is known. */
  readonly unresolved: string | undefined
  readonly alterations: readonly Alteration[]
  readonly warnings: readonly Warning[]
}

export function judgeWrite(
  deps: DeploymentDeps,
  transaction: Transaction,
  { tenant }: Caller,
  write: WriteToJudge,
): Outcome<JudgedWrite> {
  const { normalised, mode, secrets } = write
  const { spec, material } = normalised
  const facts = gatherFacts(deps, transaction, tenant, { ...write, spec })
  const verdict = checkFacts(spec, facts, { mode, limits: deps.admission.limits }, material)
  const oversized = checkSpecSize(write.identity)
  if (oversized.length > 0) return refused(...oversized, ...verdict.rejections)
  if (verdict.rejections.length > 0) return refusedBy(verdict)
  const unresolved = unresolvedBy(verdict)
  const crowded = checkRoom({
    spec,
    before: mode === 'update' ? write.stored?.spec : undefined,
    secrets,
    dependencies: Math.min(facts.dependencies?.size ?? 0, MOST_COMPARED),
    unresolved,
    restores: write.restores,
  })
  if (crowded.length > 0) return refused(...crowded)
  return done({
    imageDigest: verdict.imageDigest,
    unresolved,
    alterations: [...normalised.alterations, ...verdict.alterations, ...secrets.alterations],
    warnings: [...normalised.warnings, ...verdict.warnings],
  })
}

type SpecToStore = Pick<WriteToJudge, 'normalised' | 'identity'>

/** Leaves out a `nodeId` that equals the primary of a volume which the deployment writes to, and announces it. */
export function followMounts(
  transaction: Transaction,
  tenant: TenantId,
  { normalised, identity }: SpecToStore,
  before: MountsQuestion['before'],
): SpecToStore {
  const sent = normalised.spec
  const facts =
    sent.nodeId === undefined
      ? undefined
      : gatherVolumes(transaction, tenant, { spec: sent, before, sendsPlace: true })
  const { spec, alterations } = followVolumes(sent, facts ?? { byId: new Map() })
  if (spec === sent) return { normalised, identity }
  const announced = [...normalised.alterations, ...alterations]
  return { normalised: { ...normalised, spec, alterations: announced }, identity: identifySpec(spec) }
}
