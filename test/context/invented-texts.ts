/** Texts of many kinds, put together from invented pieces by a seed. */

type Draw = (below: number) => number;

function drawing(seed: number): Draw {
  let state = (seed * 7_919 + 12_345) % 2_147_483_647;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

function pick<T>(draw: Draw, values: readonly T[]): T {
  const value = values[draw(values.length)];
  if (value === undefined) throw new RangeError('nothing to draw from');
  return value;
}

function repeat(times: number, make: (index: number) => string, separator = '\n'): string {
  return Array.from({ length: times }, (_, index) => make(index)).join(separator);
}

const SENTENCES = [
  'The ferry to the outer islands leaves twice a day, weather permitting.',
  'Nobody could explain why the third pump had been switched off since Tuesday.',
  'Please send the signed copies to the office in Hamburg before the end of the month.',
  'She found the missing ledger between two atlases on the top shelf of the library.',
  'If the migration fails halfway, restore the snapshot and call the person on duty.',
  'Most of the committee agreed that the proposal was too expensive and came too late.',
  'Our measurements show a small but steady decline in throughput since the upgrade.',
  'He asked for three things: a map, a lantern and somebody who could read the tide tables.',
];

const GERMAN = [
  'Die Auslieferung verzögert sich, weil der Spediteur am Freitag nicht erreichbar war.',
  'Bitte prüfen Sie die Rechnung und bestätigen Sie den Betrag bis zum Monatsende.',
  'Nach der Umstellung der Heizungsanlage sank der Verbrauch um fast ein Viertel.',
  'Der Ausschuss vertagte die Entscheidung über die Straßenbahnlinie erneut.',
];

const CHINESE = [
  '昨天下午三点，客户打电话来询问订单的发货时间。',
  '请在月底之前把签好字的合同寄到上海办事处。',
  '系统升级以后，数据库的查询速度明显变慢了。',
  '会议决定推迟新产品的发布，等待测试结果。',
  '如果迁移失败，请恢复快照并通知值班工程师。',
];
const TRADITIONAL = [
  '昨天下午三點，客戶打電話來詢問訂單的發貨時間。',
  '請在月底之前把簽好字的合約寄到臺北辦事處。',
  '系統升級以後，資料庫的查詢速度明顯變慢了。',
];
const JAPANESE = [
  '昨日の午後、お客様から納期についての問い合わせがありました。',
  '月末までに署名済みの契約書を大阪支店へ送ってください。',
  'システムを更新してから、検索の速度が目に見えて遅くなりました。',
  'サーバーのログを確認したところ、タイムアウトが原因でした。',
];
const KOREAN = [
  '어제 오후에 고객이 배송 일정을 문의하는 전화를 했습니다.',
  '월말까지 서명한 계약서를 부산 사무소로 보내 주세요.',
  '시스템을 업그레이드한 뒤로 검색 속도가 눈에 띄게 느려졌습니다.',
  '회의에서는 시험 결과를 기다리기로 하고 출시를 미루었습니다.',
];

const NOUNS = ['invoice', 'vessel', 'sensor', 'tenant', 'shipment', 'reading', 'account', 'schedule'];
const VERBS = ['load', 'resolve', 'merge', 'validate', 'publish', 'append', 'collect'];

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function typescript(draw: Draw): string {
  const [noun, verb] = [pick(draw, NOUNS), pick(draw, VERBS)];
  return `export async function ${verb}${capital(noun)}(store: ${capital(noun)}Store, id: string): Promise<${capital(noun)} | null> {
  const found = await store.find(id, { limit: ${draw(900)}, includeDeleted: false });
  if (found === undefined || found.items.length === 0) {
    return null;
  }
  for (const item of found.items) {
    if (item.state !== 'open' && item.updatedAt > Date.now() - ${draw(90)}_000) continue;
    await ${verb}(item, (error) => logger.warn({ error, id: item.id }, '${verb} failed'));
  }
  return found.items[0] ?? null;
}
`;
}

function python(draw: Draw): string {
  const [noun, verb] = [pick(draw, NOUNS), pick(draw, VERBS)];
  return `def ${verb}_${noun}s(path: str, *, limit: int = ${draw(500)}) -> list[dict]:
    """${capital(verb)} every ${noun} below the limit."""
    rows = []
    with open(path, encoding="utf-8") as handle:
        for number, line in enumerate(handle):
            if number >= limit or not line.strip():
                continue
            fields = line.rstrip("\\n").split("\\t")
            rows.append({"id": fields[0], "${noun}": fields[1:], "line": number + 1})
    return sorted(rows, key=lambda row: row["id"])
`;
}

function sql(draw: Draw): string {
  const noun = pick(draw, NOUNS);
  return `select ${noun}.id, ${noun}.created_at, count(*) filter (where l.state = 'open') as open_lines
from ${noun}s ${noun}
left join ${noun}_lines l on l.${noun}_id = ${noun}.id and l.amount > ${draw(1_000)}
where ${noun}.tenant_id = $1 and ${noun}.created_at >= now() - interval '${draw(60)} days'
group by ${noun}.id, ${noun}.created_at order by open_lines desc limit ${draw(200)};
`;
}

function html(draw: Draw): string {
  const noun = pick(draw, NOUNS);
  return `<section class="${noun}-list" data-page="${draw(40)}">
  <h2>${capital(noun)}s</h2>
  <ul>
    <li><a href="/${noun}s/${draw(9_000)}">${pick(draw, SENTENCES)}</a> <span class="badge">${draw(100)}</span></li>
    <li><a href="/${noun}s/${draw(9_000)}">${pick(draw, SENTENCES)}</a></li>
  </ul>
</section>
`;
}

function record(draw: Draw): Record<string, unknown> {
  return {
    id: `${pick(draw, NOUNS)}-${draw(99_999)}`,
    createdAt: `2026-0${1 + draw(9)}-1${draw(9)}T0${draw(9)}:${10 + draw(49)}:00Z`,
    amount: draw(1_000_000) / 100,
    tags: [pick(draw, NOUNS), pick(draw, VERBS)],
    owner: { name: capital(pick(draw, NOUNS)), active: draw(2) === 0, note: pick(draw, SENTENCES) },
  };
}

function base64(draw: Draw, bytes: number): string {
  return Buffer.from(Array.from({ length: bytes }, () => draw(256))).toString('base64');
}

function hex(draw: Draw, bytes: number): string {
  return Buffer.from(Array.from({ length: bytes }, () => draw(256))).toString('hex');
}

function logLine(draw: Draw): string {
  const level = pick(draw, ['INFO', 'WARN', 'ERROR', 'DEBUG']);
  return `2026-07-1${draw(9)} 0${draw(9)}:${10 + draw(49)}:${10 + draw(49)}.${100 + draw(899)} ${level} [worker-${draw(32)}] ${pick(draw, VERBS)} ${pick(draw, NOUNS)} took ${draw(5_000)} ms`;
}

/** Kinds of text, each made anew for a seed: some 2,000 to 8,000 characters. */
export const INVENTED_TEXTS: Readonly<Record<string, (seed: number) => string>> = {
  'English text': (seed) => {
    const draw = drawing(seed);
    return repeat(12, () => repeat(4, () => pick(draw, SENTENCES), ' '), '\n\n');
  },
  'German text': (seed) => {
    const draw = drawing(seed);
    return repeat(30, () => pick(draw, GERMAN), ' ');
  },
  TypeScript: (seed) => repeat(6, (index) => typescript(drawing(seed * 10 + index))),
  Python: (seed) => repeat(6, (index) => python(drawing(seed * 10 + index))),
  SQL: (seed) => repeat(8, (index) => sql(drawing(seed * 10 + index))),
  HTML: (seed) => repeat(8, (index) => html(drawing(seed * 10 + index))),
  'indented JSON': (seed) =>
    JSON.stringify(
      Array.from({ length: 12 }, (_, index) => record(drawing(seed * 20 + index))),
      null,
      2,
    ),
  'packed JSON': (seed) => JSON.stringify(Array.from({ length: 16 }, (_, index) => record(drawing(seed * 20 + index)))),
  'log lines': (seed) => {
    const draw = drawing(seed);
    return repeat(40, () => logLine(draw));
  },
  Chinese: (seed) => {
    const draw = drawing(seed);
    return repeat(60, () => pick(draw, CHINESE), '');
  },
  'traditional Chinese': (seed) => {
    const draw = drawing(seed);
    return repeat(60, () => pick(draw, TRADITIONAL), '');
  },
  Japanese: (seed) => {
    const draw = drawing(seed);
    return repeat(60, () => pick(draw, JAPANESE), '');
  },
  Korean: (seed) => {
    const draw = drawing(seed);
    return repeat(60, () => pick(draw, KOREAN), ' ');
  },
  'base64 without breaks': (seed) => base64(drawing(seed), 3_000),
  'base64 in lines': (seed) => base64(drawing(seed), 3_000).replaceAll(/.{76}/gu, '$&\n'),
  'lines of hashes': (seed) => {
    const draw = drawing(seed);
    return repeat(60, () => `${hex(draw, 20)}  ${pick(draw, NOUNS)}.tar.gz`);
  },
  'Chinese with code': (seed) => {
    const draw = drawing(seed);
    return repeat(
      6,
      (index) => `${repeat(6, () => pick(draw, CHINESE), '')}\n\n${typescript(drawing(seed * 10 + index))}`,
    );
  },
  'Japanese in JSON': (seed) => {
    const draw = drawing(seed);
    return JSON.stringify(
      Array.from({ length: 30 }, (_, id) => ({ id, message: pick(draw, JAPANESE), ok: id % 3 === 0 })),
    );
  },
  'text, logs and a key': (seed) => {
    const draw = drawing(seed);
    return `${repeat(12, () => pick(draw, SENTENCES), ' ')}\n\n${repeat(12, () => logLine(draw))}\n\n${base64(draw, 600)}\n`;
  },
};
