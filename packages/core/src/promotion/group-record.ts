// The stored record of a volume group: the replicated volumes that one workload mounts, promoted together or not at all.

export interface Handover {
  readonly to: string
  /** The configuration version with which the handover began. */
  readonly cv: number
}

export interface GroupRecord {
  readonly epoch: number
  readonly primary: string
  /** Nodes that hold every volume of the group and whose promises the primary needs. */
  readonly promotable: readonly string[]
  /** Configuration version: increases with every change of `promotable`, of `handover` and of `epoch`. */
  readonly cv: number
  readonly handover: Handover | undefined
}

/** The record with the changes and the next configuration version. */
export const changeRecord = (record: GroupRecord, changes: Partial<GroupRecord>): GroupRecord => ({
  ...record,
  ...changes,
  cv: record.cv + 1,
})
