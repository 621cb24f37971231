// A client of a PostgreSQL in a container: it inserts numbers one after another and keeps each number that the database has
// confirmed. The database moves between nodes, so each failed insert looks for it again.

import type { LabNode } from '@holdfast/testkit'
import { postgresProgram } from '../images/postgres-image.ts'
import { bootClockMs } from '../lab/lab-disks.ts'
import { placementsOf } from './lab-reads.ts'
import type { LabPlatform } from './start-lab-platform.ts'

export interface Ledger {
  /** The numbers whose insert the database has confirmed, with the time of the confirmation on CLOCK_BOOTTIME. */
  readonly confirmed: ReadonlyMap<number, number>
  /** Runs one SQL statement on the database and returns its output, one line per row. */
  query(sql: string): Promise<string[]>
  /** Ends the inserts; resolves when the last one has ended. */
  stop(): Promise<void>
}

const PAUSE_MS = 20

/** Starts the inserts into the table `ledger`, which it creates. The deployment must run. */
export async function startLedger(cluster: LabPlatform, deployment: string): Promise<Ledger> {
  const confirmed = new Map<number, number>()
  const query = (sql: string) => queryDatabase(cluster, deployment, sql)
  await query('create table ledger (n integer primary key)')
  let stopped = false
  const run = async (): Promise<void> => {
    for (let number = 1; !stopped; number += 1) {
      // A failed insert may have been committed: its number is not confirmed and never used again.
      const done = await query(`insert into ledger values (${number})`).then(
        () => true,
        () => false,
      )
      if (done) confirmed.set(number, bootClockMs())
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
  const running = run()
  return {
    confirmed,
    query,
    async stop() {
      stopped = true
      await running
    },
  }
}

/** A running database: the node of its container, and the container's address on that node. */
export interface Database {
  readonly node: LabNode
  readonly address: string
}

/** Finds the container of the deployment's ready replica; throws if there is none. */
export async function findDatabase(cluster: LabPlatform, deployment: string): Promise<Database> {
  const placed = await placementsOf(cluster.api('acme'), deployment)
  const nodeName = placed.find(({ state }) => state === 'ready')?.nodeName
  if (nodeName === undefined) throw new Error(`${deployment} has no ready replica`)
  const node = cluster.node(nodeName)
  const running = ['docker', 'ps', '-q', '--filter', `label=holdfast.io/name=${deployment}`]
  const id = (await node.exec(running)).trim()
  const format = '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}'
  const address = (await node.exec(['docker', 'inspect', '--format', format, id])).trim()
  return { node, address }
}

/** Runs one SQL statement on the database and returns its output, one line per row. */
export async function queryDatabase(
  cluster: LabPlatform,
  deployment: string,
  sql: string,
): Promise<string[]> {
  const { node, address } = await findDatabase(cluster, deployment)
  const output = await node.exec([postgresProgram('psql'), '-h', address, '-U', 'postgres', '-Atqc', sql], {
    env: { PGCONNECT_TIMEOUT: '3' },
  })
  return output.split('\n').filter((line) => line !== '')
}
