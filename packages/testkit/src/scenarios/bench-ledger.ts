// pgbench against a PostgreSQL in a container, in many short runs. Each transaction also inserts its own number into a
// table, and pgbench logs each transaction that the database has committed, so that lost ones can be found.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { postgresProgram } from '../images/postgres-image.ts'
import { makeTempFolder } from '../temp-folder.ts'
import { type Database, findDatabase, queryDatabase } from './database-ledger.ts'
import type { LabPlatform } from './start-lab-platform.ts'

export interface BenchLedger {
  readonly log: BenchLog
  /** Ends pgbench; resolves when its last run has ended. */
  stop(): Promise<void>
  /** Compares the tables with the log of pgbench. */
  check(): Promise<BenchCheck>
}

/** The log of pgbench over all runs so far. */
interface BenchLog {
  /** The committed transactions, as `run|client|number`. */
  readonly committed: Set<string>
  /** How many of them were committed on each node. */
  readonly byNode: Map<string, number>
  /** Lines that report no committed transaction. One that failed would shift the numbers of its client. */
  readonly unexpected: string[]
  /** How many runs the end of the database or of a connection has cut short. */
  interrupted: number
  /** Why the newest run that failed did so. */
  lastError: string
}

interface BenchCheck {
  /** Transactions that pgbench has logged as committed and that the table lacks. */
  readonly missing: readonly string[]
  /** Transactions in the table. Those that are not in the log were committed while the connection was lost. */
  readonly stored: number
  /** True if accounts, tellers, branches and history have the same sum, and every transaction is there as a whole. */
  readonly balanced: boolean
}

/** A run is short, because pgbench ends at the first lost connection and its log is read after each run. */
const RUN_SECONDS = 1
const CLIENTS = 4
/** Transactions a second. Without a limit, the tables would fill the volume on a fast machine. */
const RATE = 100
const PAUSE_MS = 50

const TABLE = 'bench_ledger (run integer, client integer, number integer, primary key (run, client, number))'

/** The transaction of pgbench, and an insert of the client's id and its counter. */
const SCRIPT = `\\set counter :counter + 1
\\set aid random(1, 100000 * :scale)
\\set bid random(1, 1 * :scale)
\\set tid random(1, 10 * :scale)
\\set delta random(-5000, 5000)
begin;
update pgbench_accounts set abalance = abalance + :delta where aid = :aid;
update pgbench_tellers set tbalance = tbalance + :delta where tid = :tid;
update pgbench_branches set bbalance = bbalance + :delta where bid = :bid;
insert into pgbench_history (tid, bid, aid, delta, mtime) values (:tid, :bid, :aid, :delta, current_timestamp);
insert into bench_ledger values (:run, :client_id, :counter);
end;
`

const BALANCED = `with sums as (
  select coalesce(sum(abalance), 0) as total from pgbench_accounts
  union select coalesce(sum(tbalance), 0) from pgbench_tellers
  union select coalesce(sum(bbalance), 0) from pgbench_branches
  union select coalesce(sum(delta), 0) from pgbench_history)
select count(*) = 1 and (select count(*) from pgbench_history) = (select count(*) from bench_ledger) from sums`

/** Creates the tables of pgbench at scale 1 and starts the runs. The deployment must run. */
export async function startBench(cluster: LabPlatform, deployment: string): Promise<BenchLedger> {
  const query = (sql: string) => queryDatabase(cluster, deployment, sql)
  const find = () => findDatabase(cluster, deployment)
  await runPgbench(await find(), ['--initialize', '--quiet'])
  await query(`create table ${TABLE}`)
  const folder = makeTempFolder('pgbench')
  writeFileSync(scriptIn(folder.path), SCRIPT)
  const log: BenchLog = {
    committed: new Set(),
    byNode: new Map(),
    unexpected: [],
    interrupted: 0,
    lastError: 'none',
  }
  let stopped = false
  const runAll = async (): Promise<void> => {
    for (let run = 1; !stopped; run += 1) {
      // While the database is between two nodes, there is none to run against.
      await find()
        .then((database) => runOnce(database, folder.path, run, log))
        .catch((error) => {
          log.lastError = String(error)
        })
      await pause(PAUSE_MS)
    }
  }
  const running = runAll()
  return {
    log,
    check: () => compare(log, query),
    async stop() {
      stopped = true
      await running
      folder.remove()
    },
  }
}

async function runOnce(database: Database, folder: string, run: number, log: BenchLog): Promise<void> {
  await runPgbench(database, [
    ...['--no-vacuum', '--file', scriptIn(folder), '--define', `run=${run}`, '--define', 'counter=0'],
    ...['--time', `${RUN_SECONDS}`, '--client', `${CLIENTS}`, '--rate', `${RATE}`],
    ...['--log', '--log-prefix', join(folder, `${run}`)],
  ]).catch((error) => {
    log.interrupted += 1
    log.lastError = String(error)
  })
  const before = log.committed.size
  for (const line of readLog(folder, run)) {
    const found = COMMITTED.exec(line)
    if (found === null) log.unexpected.push(line)
    else log.committed.add(`${run}|${found[1]}|${found[2]}`)
  }
  const { name } = database.node
  log.byNode.set(name, (log.byNode.get(name) ?? 0) + log.committed.size - before)
}

async function compare(log: BenchLog, query: (sql: string) => Promise<string[]>): Promise<BenchCheck> {
  const stored = new Set(await query('select run, client, number from bench_ledger'))
  const missing = [...log.committed].filter((each) => !stored.has(each))
  const [balanced] = await query(BALANCED)
  return { missing, stored: stored.size, balanced: balanced === 't' }
}

const scriptIn = (folder: string): string => join(folder, 'script.sql')

/** Runs pgbench on the node of the database. A connection that gets no answer ends after some seconds. */
async function runPgbench({ node, address }: Database, words: readonly string[]): Promise<void> {
  const alive =
    'connect_timeout=3 tcp_user_timeout=5000 keepalives_idle=2 keepalives_interval=1 keepalives_count=3'
  const database = `host=${address} user=postgres dbname=postgres ${alive}`
  await node.exec([postgresProgram('pgbench'), ...words, database])
}

/** Client and number of a committed transaction. pgbench numbers those of a client from 1, as the script does. */
const COMMITTED = /^(\d+) (\d+) \d+ \d+ \d+ \d+ \d+$/

/** The complete lines that pgbench has logged in a run. A killed pgbench may leave an incomplete one. */
function readLog(folder: string, run: number): string[] {
  const files = readdirSync(folder).filter((name) => name.startsWith(`${run}.`))
  return files.flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n').slice(0, -1))
}
