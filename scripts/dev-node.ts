// `npm run dev:node -- off acme-2`: pulls the plug of a machine of the development platform, or puts it back.

import { folderFromArguments } from './dev/dev-folder.ts'
import { orderPower } from './dev/power.ts'

process.stdout.write(`${await orderPower(folderFromArguments([]), process.argv.slice(2))}\n`)
