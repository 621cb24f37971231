// Invariant: record quotas are exact under any concurrency. Every record holds one slot, every slot belongs to one
// record, and no slot number is above the limit.

import type { QuotaKind, TenantId } from '@holdfast/contract'
import type { Broken, Invariant } from '../invariant.ts'
import type { Moment } from '../moment.ts'
import { createRecentLimits } from './recent-limit.ts'

const KINDS = ['deployments', 'nodes', 'volumes', 'networks'] as const

export const slotsInLimits: Invariant = {
  name: 'slots-in-limits',
  start() {
    const limits = KINDS.map((kind) => ({ kind, limits: createRecentLimits(kind) }))
    return function* (moment) {
      for (const each of limits) each.limits.note(moment)
      const isChanged = (['slots', ...KINDS] as const).some((kind) => moment[kind].changed.length > 0)
      if (!isChanged) return
      for (const { record } of moment.world.tenants) {
        yield* unlikeRecords(moment, record.id)
        for (const { kind, limits: of } of limits)
          yield* aboveLimit(moment, record.id, kind, of.of(record.id, moment.now))
      }
    }
  },
}

const slotsOf = ({ slots }: Moment, tenant: TenantId, kind: QuotaKind): string[] =>
  slots.all.filter((kept) => kept.tenant === tenant && kept.id.startsWith(`${kind}/`)).map(({ id }) => id)

function* aboveLimit(moment: Moment, tenant: TenantId, kind: QuotaKind, limit: number): Generator<Broken> {
  const isOwn = (id: string, owner: TenantId | undefined) => owner === tenant && id.startsWith(`${kind}/`)
  const taken = moment.slots.changed.some(
    ({ id, tenant: owner, was }) => was === undefined && isOwn(id, owner),
  )
  const used = taken ? slotsOf(moment, tenant, kind).length : 0
  if (used > limit) yield { subject: tenant, message: `took ${kind} slot ${used} of ${limit}` }
}

function* unlikeRecords(moment: Moment, tenant: TenantId): Generator<Broken> {
  for (const kind of KINDS) {
    const own = moment[kind].all.filter((kept) => kept.tenant === tenant)
    const held = own.map(({ record }) => `${kind}/${record.slot}`).sort()
    const slots = slotsOf(moment, tenant, kind).sort()
    if (held.join() !== slots.join())
      yield {
        subject: tenant,
        message: `has slots ${slots.join(' ')}, and its records hold ${held.join(' ')}`,
      }
  }
}
