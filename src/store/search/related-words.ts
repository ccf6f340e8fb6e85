/**
 * English words that one speaks of the same things with: who asks for a "pet" is told of a dog. First words for the same, or for
 * the kind, then of what there are many kinds: these stand for the first, and, as the weaker sign, the first for these. Everyday
 * words only: those of a trade are the same in question and answer. Of Chinese, Japanese and Korean, by pairs of characters as the
 * index has them, what tells where one lives or works by now.
 */
const GROUPS = `
mother mom mum mama mommy
father dad daddy papa
grandmother grandma granny nana
grandfather grandpa granddad
sibling: sister brother
parent: mother mom mum father dad
relative: aunt uncle cousin grandmother grandma grandfather grandpa niece nephew
child kid toddler: son daughter baby
spouse partner: husband wife boyfriend girlfriend fiance
pregnant expecting
friend buddy pal
neighbor neighbour
marry: wedding married engaged proposed bride groom honeymoon
engaged engagement: proposed propose ring
divorce split separated: breakup
birth born
die died: death passed lost funeral
pet: dog puppy beagle cat kitten rabbit hamster parrot turtle fish
animal: dog cat horse bird bear deer wolf fox whale dolphin elephant
dog puppy: labrador beagle poodle retriever shepherd terrier
cat kitten
job work career profession occupation employment: position role shift office
employer company firm boss
resign quit: leaving
fire fired: laid sacked
promote promoted promotion: raise senior
hire hired: job offer
salary pay wage income
business shop store company: startup bakery restaurant cafe studio
customer client
money: savings loan cash fund grant
purchase buy bought: got ordered
sell sold
expensive: cost price
study studied major: degree college university course
school: kindergarten class teacher college university
student pupil
teach taught lesson: class teacher coach
exam test: passed failed grade
house home apartment flat place
rent landlord tenant
move moved relocate relocated
room: bedroom kitchen bathroom studio attic
furniture: table chair couch sofa desk shelf cupboard wardrobe
car vehicle: truck van suv
bike bicycle cycling: ride
travel trip journey: vacation holiday flight visit visited tour road
vacation holiday trip: beach getaway
country nation: abroad
hike hiking trail: trek mountain walk
camp camping: tent campfire
mountain peak summit
ocean sea beach: coast shore surf
exercise workout: gym run running yoga swim swimming training
sport: soccer football basketball tennis hockey baseball swimming running volleyball golf boxing
run running jog: marathon race
competition contest tournament: race final prize medal trophy won
win won: prize trophy medal champion
team: club squad crew
hobby pastime: painting reading knitting gardening pottery fishing chess photography
relax unwind destress: calm calming yoga meditation bath
stress stressed stressful: pressure overwhelmed anxious worried
afraid scared fear: terrified phobia nervous anxious
happy glad: thrilled excited joy delighted
sad upset: down cry cried depressed heartbroken
angry mad: furious annoyed
tired exhausted: sleep sleepy
proud: achievement accomplished
dream goal ambition: hope plan wish
plan planning intend: going want
sick ill illness disease: flu cold fever cancer diabetes asthma
diagnose diagnosed diagnosis: doctor
doctor physician: hospital clinic nurse
hospital clinic: surgery emergency
surgery operation operated: surgeon
injure injury hurt: broke broken sprained ankle knee wound
medicine medication treatment: pill pills therapy inhaler
therapy counseling: therapist counselor
allergy allergic
diet: eating healthy sugar vegetarian vegan weight
food meal dish: dinner lunch breakfast cook cooked recipe
cook cooking cooked: bake baked recipe kitchen dinner
bake baking: cake bread cookies pie
drink beverage: coffee tea wine beer juice lemonade
dessert: cake ice cookie pie chocolate
restaurant: cafe diner dinner
book novel: story read reading author
read reading
write writing wrote writer: story book poem journal blog article published
movie film: watched cinema theater
show series: watch episode season
game: play video board console
music musician: song band concert guitar piano
instrument: guitar piano violin drums cello flute clarinet saxophone ukulele trumpet
band: concert song album
concert gig: band live festival
song: album music lyrics
art artist: painting paint drawing sculpture gallery exhibition
paint painting painted: canvas watercolor easel brush
photo picture photograph photography: camera
dance dancing: ballet salsa studio
craft: knit sew pottery clay
pottery: clay
garden gardening: plant flowers vegetables
plant: flower tree vegetable seeds garden
gift present: gave birthday
jewelry: necklace ring bracelet earrings
clothes clothing outfit: dress shirt shoes jacket
color colour: red blue green yellow purple orange pink black white brown
celebrate celebration party: birthday anniversary
birthday: turned turning cake
religion religious faith: church god pray prayer temple mosque spiritual
church: mass service
tradition custom: christmas thanksgiving every
volunteer volunteering volunteered: shelter charity helping community
charity: donate fundraiser nonprofit
donate donated: gave
protest rally march: activist rights petition
politics political: election vote mayor council
support supported: helped encouraged there
help helped
inspire inspired motivate motivated motivation: because
symbolize symbol represent represents: stands means reminder
realize realized
begin began start started
finish finished complete completed
quit stop stopped: gave
lose lost
steal stolen: took robbed
accident crash: hit
fix repair repaired mend
build built: made
organize organized: planned hosted
attend attended: went joined
join joined: signed
meet met: introduced
visit visited: went
receive received: got
adopt adopted adoption: agency rescue
police officer: cop
phone: cell call text
message text email
computer laptop
internet online website
age old: turned
size big: small large
weather: rain snow sunny storm
sibling sister
nickname name: called named call
instructor teacher coach trainer tutor: professor
girlfriend boyfriend partner
sick ill illness unwell: vomiting nausea headache
injured hurt: broke sprained twisted fractured cut bruised
reject rejected refuse refused decline declined: turned no
anxious worried nervous uneasy: scared afraid
album record: track song
boss manager supervisor
colleague coworker workmate
live lives lived reside resides: moved home apartment flat house settled
kids children
funny hilarious: laugh laughed joke
scary frightening terrifying
delicious tasty yummy
angry upset mad: argument fight quarrel
argue argued argument quarrel fight row
forgive apologize apologise sorry
borrow borrowed lend lent loan
broken damaged: crack cracked leaking
clean cleaning tidy: wash scrub
hurry rush rushed late
guess suppose think
smart clever bright
brave courage
famous well-known: star
gather collect collected collection
hobby hobbies: class club lessons
nervous anxious: worry worrying sleep
discover discovered find found
choose chose pick picked decide decided
remember recall
present gift
reason because why
income earn earned: salary
pay paid spend spent cost: price
assist assistant helper help
leave left quit
argument disagreement
rescue rescued save saved
destroy destroyed ruin ruined: burned fire flood
luggage suitcase bag
trousers pants jeans
film movie
flavor flavour taste
autumn fall
holiday holidays vacation: easter christmas
film shoot filming
lawyer attorney: legal contract
garbage trash rubbish
teenager teen
deadline due: until finish
publish published release released: out
writer author
住在 住哪: 搬到 搬去 搬家
工作 上班: 入职 跳槽
住ん 住む: っ越 引越 転居
働い 働く 勤め: 転職 入社
살고 살아 사는: 이사
일하 일해 다니 근무: 이직 입사
`;

export interface RelatedWords {
  /** Words for the same, and kinds of it. */
  readonly alike: readonly string[];
  /** What it is a kind of: who asks for a dog may be told of "my pet". */
  readonly wider: readonly string[];
}

const ALIKE = new Map<string, Set<string>>();
const WIDER = new Map<string, Set<string>>();

function relate(map: Map<string, Set<string>>, word: string, others: readonly string[]): void {
  const related = map.get(word) ?? new Set<string>();
  map.set(word, related);
  for (const other of others) if (other !== word) related.add(other);
}

for (const line of GROUPS.trim().split('\n')) {
  const [same = '', kinds = ''] = line.split(':').map((part) => part.trim());
  const alike = same.split(' ');
  const narrower = kinds === '' ? [] : kinds.split(' ');
  for (const word of alike) relate(ALIKE, word, [...alike, ...narrower]);
  for (const word of narrower) relate(WIDER, word, alike);
}

/** Other words that an answer may have for this one of the question; none for most. */
export function relatedWordsOf(word: string): RelatedWords {
  const alike = related(ALIKE, word);
  return { alike, wider: related(WIDER, word).filter((other) => !alike.includes(other)) };
}

function related(map: ReadonlyMap<string, ReadonlySet<string>>, word: string): readonly string[] {
  return [...(map.get(word) ?? map.get(singularOf(word)) ?? [])];
}

function singularOf(word: string): string {
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  return word.endsWith('s') ? word.slice(0, -1) : word;
}
