// English: what askbase knows of the language itself. Data only; words.h explains the tables.
#include "qa/words.h"

namespace askbase::qa {
namespace {

constexpr std::string_view function_words = R"(
a; an; the; of; in; on; at; to; for; from; by; with; within; into; onto; as; via; per; among; between; during;
under; over; through; around; about; against; is; are; was; were; be; been; being; am; do; does; did; done; doing; has; have; had;
having; can; could; will; would; shall; should; may; might; must; what; which; who; whom; whose; when; where;
why; how; that; this; these; those; there; here; it; its; their; theirs; his; her; hers; they; them; he; him;
she; we; us; you; i; me; my; mine; our; your; and; or; not; no; yes; s; t; d; ll; re; ve; m; whats; wheres;
whos; whens; hows; isnt; arent; doesnt; dont; didnt; many; much; please; if; then; so; also; too; just; only; ever; exactly;
approximately; roughly; actually; currently; now; today; all; any; every; each; both; some; such; other; else;
ok; okay; hey; hi; hello; lets; let; want; wanna; like; need; wonder; wondering; curious; tell; give; show; list; find; enumerate;
figure; say; know; think; remind; get; got; out; up; off; one; ones; thing; things; something; someone; anyone; anybody;
somebody; somewhere; anywhere; everyday; ordinary; total; again; quickly; correct; true; right
)";

// "like" and "think" are function words above because "I'd like to know" asks nothing; the opinion cues
// see them first.
constexpr std::string_view light_words = R"(
use; uses; used; using; call; called; calls; name; named; names; known; scientist; scientists; chemist; chemists; astronomer; astronomers; expert; experts; trade; traded; trades; say; said; term; make; makes; made; come;
comes; belong; belongs; belonging; lie; lies; located; situated; located; placed; exist; exists; contain;
contains; include; includes; included; including; kind; kinds; type; types; sort; sorts; number; amount;
value; values; way; official; officially; different; various; several; go; goes; take; takes; hold; holds;
people; place; places; person; word; expressed; given; listed; recorded; stand; stands; current; present; actual; main; common;
commonly; overall; entire; whole; there; count; counted; work; works; consist; consists; measure; measured; own; owns; serve; serves;
serving; found; see; seen; run; runs; part; world; local; adopted; employ; accepted; possess; possesses; set; full; fall; falls; sit; sits; appear; appears; occupy; occupies; bear; wear; carry; carries; fit; put; mean; means; periodic; table; refer; refers; correspond; corresponds; identify; become; becomes; exact; precise; specific; particular; whose; somewhere; abroad; overseas; within; kilometers; kilometres; km; hours; hour; days; day; kelvin; degrees; kg; kilograms; metres; meters; miles; tons; tonnes; dollars; euros; percent; years; units; movie; movies; film; films; song; songs; book; books; album; albums; game; games; word; words; item; items; entry; entries; example; examples; fact; facts; detail; details; information
)";

constexpr std::string_view irregular = R"(
spoken speak; spoke speak; written write; wrote write; made make; built build; led lead; paid pay; sold sell;
won win; lay lie; lain lie; lying lie; lies lie; men man; women woman; children child; wives wife; went go; gone go;
began begin; begun begin; born born; bore bear; gave give; given give; taken take; took take; driven drive; drove drive;
held hold; kept keep; left left; met meet; sent send; sang sing; sung sing; taught teach; thought think;
drew draw; drawn draw; flew fly; grew grow; grown grow; rose rise; risen rise; shot shoot; spent spend;
stood stand; stands stand; wore wear; worn wear; frozen freeze; froze freeze; spun spin; lives live; moons moon; metres metre; neighbouring neighbour; neighboring neighbour; neighbors neighbour; neighbor neighbour; neighbours neighbour;
bordering border; cities city; weighs weigh; colour color; organisation organization; dialling dial; dialing dial; ionisation ionization; axes axis; data data; founded establish; founder founder
)";

constexpr std::string_view cue_person = "who; whom; whose; which person; what person; which people; whos";
constexpr std::string_view cue_place = "where; wheres; whereabouts; in which place; what place; which place";
constexpr std::string_view cue_time =
    "when; whens; what year; which year; what date; which date; what day; which day; what month; which "
    "month; "
    "how long ago; what time; since when";
constexpr std::string_view cue_number =
    "how much; how big; how large; how tall; how high; how long; how far; how heavy; how old; how hot; how "
    "cold; "
    "how warm; how deep; how wide; how fast; how dense; how strong; how small; how populous; how populated; "
    "how rich; how wealthy; how massive; "
    "how expensive; how thick; what number; which number; how often; how bright; how close; how distant; how "
    "low; how short; how young; how quickly; how extensive; how electronegative";
constexpr std::string_view cue_count = "how many; number of; count of; count the; count; total number of";
constexpr std::string_view cue_list =
    "list; list of; a list; enumerate; name all; name the; give me all; show me all; show all; all the; what "
    "are; what were; "
    "which are; "
    "tell me all; give all; find all; list all; name every; name some; name";
constexpr std::string_view cue_boolean =
    "is; are; was; were; do; does; did; has; have; had; can; isn't; aren't; doesn't; don't; is it true; is "
    "it correct";
constexpr std::string_view cue_which = "which; what; whats";
constexpr std::string_view cue_definition =
    "tell me about; describe; what is; who is; what are; define; information about; information on; tell me "
    "more about; who was";
constexpr std::string_view cue_superlative = R"(
most; least; largest; biggest; greatest; smallest; tiniest; highest; tallest; lowest; longest; shortest; oldest; youngest;
newest; richest; poorest; hottest; coldest; warmest; coolest; heaviest; lightest; densest; deepest; nearest;
closest; farthest; furthest; fastest; slowest; earliest; latest; busiest; widest; strongest; weakest; brightest;
hardest; softest; cheapest; costliest; fewest; northernmost; southernmost; easternmost; westernmost; top five; top ten; top three; top 10;
top 5; top 3; second largest; maximum; minimum; discovered first; first discovered; discovered last; rarest; strangest; safest; thickest; thinnest
)";
constexpr std::string_view cue_comparison = R"(
than; bigger; larger; smaller; taller; higher; lower; longer; shorter; older; younger; richer; poorer; hotter;
colder; warmer; heavier; lighter; denser; closer; nearer; farther; further; faster; slower; earlier; later;
versus; vs; compare; compared to; compared with; difference between; differ; better; worse; same as; as big as; as large as; as many as; in common; or; similar to; relate to; related to; twice
)";
constexpr std::string_view cue_filter =
    "more than; less than; fewer than; greater than; at least; at most; over 1; exceeding; above; below; "
    "before; after; between; at minimum; up to; starting with; start with; starts with; beginning with; "
    "begin with; ending with; end with; ends with; ending in";
constexpr std::string_view cue_negation =
    "not; isn't; aren't; doesn't; don't; didn't; without; except; excluding; neither; never; no longer; "
    "other than; besides; outside";
constexpr std::string_view cue_polite =
    "do you know; can you tell me; could you tell me; would you tell me; will you tell me; does anyone know; "
    "do you happen to know; can anyone tell me; who knows; who can tell me; have you any idea; do you have "
    "any idea; may i ask; can i ask; can you say; can you name; could you name; can you list; could you "
    "list; can you give me; could you give me";
constexpr std::string_view cue_opinion = R"(
should; best; worst; favourite; favorite; beautiful; nice; nicest; good; bad; do you think; you think; opinion;
recommend; suggest; worth; interesting; boring; ugly; do you like; do you prefer; enjoy; delicious; friendly; prettiest; overrated; fun; important; dangerous; safe; cool; famous for; feel about; love; hate
)";
constexpr std::string_view cue_manner =
    "why; how come; how to; how do; how does; how did; how can; how could; how is; how are; how was; how "
    "were; how would; how should; how will; reason; reasons; what causes; what caused; what happens; what "
    "happened; what would happen; what if; explain; how has; how have; will; purpose; step; steps; what does "
    "it feel";
constexpr std::string_view cue_task =
    "translate; write me; write a; write an; compose; calculate; compute; summarize; summarise; draw; sing; "
    "tell me a joke; tell a joke; joke; poem; story; essay; plan a; plan my; book a; book me; remind me; set "
    "an; set a; play; open; solve; plus; minus; times; divided; convert; cook; recipe; weather; news; stock; "
    "sqrt; order me; buy; advice; help me";

constexpr std::string_view small_talk = R"(
hello; hi; hey; hello there; hi there; hey there; good morning; good afternoon; good evening; good night; good day; how are you; how are you doing;
how are you today; how do you do; hows it going; whats up; thanks; thank you; thank you very much; thanks a lot; bye; goodbye; see you; see you later;
who are you; what are you; whats your name; what is your name; what can you do; what can i ask; help; are you a robot; are you human;
are you there; test; testing; ok; okay; yes; no; nice to meet you; how old are you; where are you from; who made you; who created you; i love you;
do you love me; tell me a joke; i am bored; im bored; sorry; lol; haha; cool; great; please help; please help me; can you help me; help me; what time is it; what day is it; what is the weather; do you like me; are you ok; are you okay; good job; well done; where are you; can you speak chinese; do you speak chinese; do you speak english; nice; what is the meaning of life; tell me something; say something; how is your day; how was your day; what is up
)";

constexpr std::string_view concepts = R"(
population: population; inhabitants; residents; how many people; how many inhabitants; how many residents; how many citizens; people live; populous; populated; citizens*0.8; headcount; how large is the population; how many live; human*0.5; inhabited; number of people; dwell*0.7
area: area; surface area; how big*0.9; how large*0.9; size*0.8; land area; square kilometers; square kilometres; square miles; square km; how extensive; territory*0.6; how much land; cover*0.7; acreage; surface*0.8; land*0.6; how vast; how much space
diameter: diameter; how wide*0.8; how big*0.6; how large*0.5; size*0.6; across; width*0.8
radius: radius; how big*0.5; how large*0.4; size*0.5
height: height; how tall; how high; tall; high*0.7; stature
elevation: elevation; altitude; above sea level; how high*0.8; height above sea level; sea level; meters above*0.8; height*0.7
length: length; how long*0.9; long*0.6
width: width; how wide; breadth; wide*0.7
depth: depth; how deep; deep*0.8
duration: duration; how long*0.8; running time; runtime; period*0.6; take*0.4; last*0.5
distance: distance; how far; far; how distant; how close*0.8; away*0.8
mass: mass; weight; weigh; how heavy; how massive; how much does*0.3; heavy*0.8; kilograms*0.6; kilogrammes*0.6
age: age; how old; years old
temperature: temperature; how hot; how cold; how warm; hot*0.8; cold*0.8; warm*0.8; degrees*0.6
speed: speed; velocity; how fast; fast*0.8; how quickly
density: density; how dense; dense
price: price; cost; how much does; how much is; how expensive; fee; worth*0.6
salary: salary; wage; pay*0.7; income; earnings; earn; how much*0.4; paid*0.6; compensation; monthly pay; make money
revenue: revenue; turnover; sales*0.8; income*0.5
gdp: gdp; gross domestic product; economic output; size of the economy; how rich; how wealthy; economy; wealth*0.6; rich*0.6; economic size
birth date: birth date; date of birth; birthday; born*0.9; birth year; year of birth; when born; birth*0.8; birthdate
birth place: birth place; birthplace; place of birth; born in; born*0.8; hometown; home town; native place; birth*0.7
death date: death date; date of death; died*0.9; die*0.9; death*0.8; passed away; year of death
death place: place of death; died*0.6; die*0.6; death place
founding date: founding date; founded; founding; foundation; inception; established; establish; date founded; year founded; created*0.7; start date*0.6; creation*0.7; formed; formation*0.8; started*0.6; opened*0.6; launched*0.6; set up; born*0.3; began*0.6; incorporated
founder: founder; founders; founded*0.8; founded by; established by; establish*0.6; created*0.6; creator*0.7; started*0.6; set up*0.6; co-founder; cofounder
creator: creator; created; create; created by; made*0.7; make*0.6; developer*0.8; developed*0.8; designer*0.7; designed*0.7; inventor*0.7; invented*0.7
inventor: inventor; invented; invent; invention
discoverer: discoverer; discovered; discover; discovered by; found*0.7; find*0.6; finder; spotted*0.7; identified*0.7; isolated*0.7; detect*0.7; credited*0.6; first observed; first seen; saw*0.5; sighted*0.6; first*0.4; come across*0.5
discovery date: discovery; year of discovery; date of discovery; discovered*0.9; discover*0.9; discovery year; discovery date; found*0.7; find*0.6; first observed; first seen; spotted*0.7; identified*0.7; isolated*0.7; detect*0.7; first*0.4; sighted*0.6; come to light*0.7
author: author; written by; wrote; write; writer; penned; authored
director: director; directed by; directed; direct; filmmaker*0.8; made*0.4
actor: actor; starred actors; starred; starring; stars*0.8; star*0.7; cast; acted; act; played in; appear*0.8; actress; acting; performer*0.8
genre: genre; kind of music; type of film; what kind*0.6; type*0.5; what type*0.6; sort*0.5; fall under*0.6; style*0.6
release date: release date; release year; released; release; came out; come out; publication date; published*0.8; publish*0.8; premiere; date of release; released in; published in
publisher: publisher; published by; published*0.8; publish*0.7; publishing house
composer: composer; composed by; composed; music by
producer: producer; produced by; produced*0.7; manufacturer; made by; maker; manufactured
leader: leader; led by; head*0.8; lead*0.8; boss; chief*0.8; in charge; chair*0.6; run*0.6
manager: manager; managed by; manages; manage; boss*0.9; supervisor; line manager; report to; reports to; superior; in charge*0.8; head*0.6; lead*0.6; leader*0.7; supervises
ceo: ceo; chief executive; chief executive officer; head*0.5; run*0.4; leads*0.5
owner: owner; owned by; owns; own; belongs*0.6; proprietor; holder*0.6; possess*0.6
employer: employer; works for; work for; employed by; employed; company*0.7; works at; work at; organization*0.5
employee: employee; employees; staff; workers; headcount; workforce; works for*0.7; work for*0.7; work in*0.7; number of employees; how many people work; personnel
department: department; division*0.8; team*0.7; unit*0.6; works in*0.8; work in*0.8; section*0.7
occupation: occupation; job; profession; job title*0.9; title*0.7; position*0.8; role*0.8; career; do for a living; works as; work as; what does*0.3; living*0.5; post*0.6
education: education; alma mater; university*0.7; studied; study; educated at; educated; graduated; graduate; school*0.8; degree*0.7; attended*0.7; college*0.7
spouse: spouse; wife; husband; married; marry; married to; partner*0.8
child: child; children; son*0.8; daughter*0.8; kids; offspring
parent: parent; parents; father*0.8; mother*0.8
father: father; dad
mother: mother; mom; mum
sibling: sibling; brother*0.8; sister*0.8
nationality: nationality; citizenship; citizen of; country of citizenship; where from*0.6; come from*0.6; from which country; country*0.5
residence: residence; lives in; live in*0.8; live*0.7; home*0.6; address*0.7; reside; resides
headquarters: headquarters; headquarter; head office; based; headquartered; main office; seat*0.7
location: location; located; located in; situated; lie*0.9; lies in; place*0.7; position*0.6; where*0.9; whereabouts; find*0.5; found*0.5; site; situate; address*0.7
country: country; nation; located in country; located in*0.6; where*0.75; located*0.6; lie*0.6; situated*0.6; homeland; belong*0.6; part of*0.5; state*0.5
city: city; town; where*0.6; located*0.4; municipality
province: province; state*0.8; region*0.7; administrative region; first-level division; prefecture*0.7; which part*0.7; what part*0.7; where*0.5; located*0.4; county*0.6; district*0.6; department*0.4
continent: continent; part of the world; where*0.55; located*0.5; lie*0.5; landmass; situated*0.5
region: region; subregion; part of the world*0.9; area of the world; where*0.45; located*0.4; world region; corner of the world*0.8; which part*0.6; what part*0.6; part of*0.6; geographical region
address: address; street address; where*0.5; located*0.5
capital: capital; capital city; leading city*0.7; principal city*0.7; seat of government*0.8; main city*0.7; seat of the state; government*0.4; govern from*0.7
currency: currency; money; legal tender; pay*0.75; spend*0.75; cash*0.8; monetary unit; buy*0.6; notes*0.5; coins*0.6; pay with*0.9; pay in*0.9; purchases*0.6; shopping*0.6; banknotes*0.7; accept*0.4; tender
language: language; speak; spoken; official language; tongue; talk*0.8; converse*0.8; mother tongue; communicate*0.6; lingua franca; use to communicate; official languages; languages spoken; in language; spoken language
border: border; borders; neighbour; neighbours; neighboring country; neighbouring country; bordering country; adjacent; adjoin; next to*0.9; share a border; shares a border; touch*0.7; frontier; abut; next door; share a land border; border country; neighbour country; bounded by*0.7; surround*0.7; land border; adjacent to; adjoining; share a frontier; share a boundary; boundary*0.8
time zone: time zone; timezone; what time; local time; clock*0.6; clocks*0.6; time*0.5; hour*0.5
utc offset: utc offset; offset from utc; standard time offset; gmt*0.8; utc*0.8; offset*0.8; hours ahead; time difference; ahead of; behind*0.5
driving side: driving side; side of the road; drive; drive on; traffic*0.8; driving; which side*0.9; what side*0.9; cars*0.5; keep to; motorists*0.6; steering*0.5; road*0.6; vehicles*0.5
calling code: calling code; dialing code; dialling code; phone code; telephone code; dial; telephone*0.9; phone*0.9; area code*0.7; call*0.5; phone number prefix; prefix*0.6; phone prefix; telephone prefix; ring*0.5; country calling code; international prefix; calling*0.8; phone calls
phone: phone; telephone; phone number; telephone number; call*0.5; extension*0.5; mobile*0.7
email: email; e-mail; mail*0.7; email address
website: website; web site; homepage; url; web page; site*0.6
web domain: internet domain; top-level domain; domain; tld; web address*0.8; web domain; website end*0.8; internet country code; internet suffix; website*0.6; web addresses; internet*0.7; web suffix; web*0.6; sites*0.5; domain name; url*0.6; suffix*0.7; internet extension
country code: country code; two-letter country code; two letter code; alpha-2 code; iso alpha-2 code; iso country code; two-letter code; two letters*0.8; iso code*0.8; abbreviation*0.6; shorthand*0.6; short for*0.6; stands for*0.5; stand for*0.5; abbreviated*0.6
three letter code: three-letter country code; three letter code; alpha-3 code; iso alpha-3 code; three-letter code; three letters*0.8; iso code*0.6; abbreviation*0.5; passport*0.5
numeric code: numeric code; number code; iso numeric code; numerical code; three-digit code; digit code; three digits*0.9; digits*0.7
demonym: demonym; demonyms; call people from; people called; inhabitants called; name for inhabitants; name of the people; people from*0.9; someone from; call someone; citizens called; residents called; person from; call a person; inhabitant name; natives called; called people; refer to people; refer to inhabitants; call the people; citizen called; inhabitants known; people known; call inhabitants; call residents; call citizens; a native of; call a native; resident called; inhabitant called; citizens known; call locals; locals called; nationals called; come from*0.6; comes from*0.6; nationality*0.8; islander*0.5; citizen*0.6; native*0.5
independent: independent; independence; sovereign; self-governing; autonomous*0.7; a sovereign state; sovereignty
member: member; membership; belong*0.7; part of*0.5; join*0.6; joined*0.6; members; member of
united nations: united nations; un; un member; united nations member; member of the united nations; un membership
landlocked: landlocked; without access to the sea; no access to the sea; no coast; no coastline; surrounded by land; no sea coast; without a coast; without a coastline; cut off from the sea; !access to the sea; !coast*0.8; !coastline; !sea access; !ocean access; !coastal; !seaport*0.7; !sea*0.5; !shoreline*0.8; !access to the ocean; !access to an ocean; !border the sea; !on the sea*0.7; !by the sea*0.7
flag: flag; flag emoji; emoji; flag symbol; emoji flag
official name: official name; full name; formal name; long name; full official name; formally called; officially called; officially known; formally known; formal title*0.8; full title*0.8; officially named; legal name*0.8; complete name
native name: native name; local name; endonym; own name; native language name; locally called; call itself; locals call; calls itself; locally known; call their country; called locally; known locally; called by its own people; own language; name in its own language; in its own language
name: name; title; called
sovereign: sovereign state; governing country; ruling country; administering state; owner country; governs; govern; rules*0.7; rule*0.7; administers; administer; administered by; belong to*0.8; belongs to*0.8; owns*0.6; own*0.6; owned*0.6; territory of; sovereignty; dependency; control*0.7; governed by; dependency of; ruled*0.7; possession*0.6; under the rule
latitude: latitude; north-south position; how far north; coordinates*0.7; how far south; parallel*0.6; geographic latitude
longitude: longitude; east-west position; coordinates*0.7; how far east; how far west; meridian*0.6; geographic longitude
coordinates: coordinates; geographic coordinates; position*0.6; gps; geolocation
currency code: currency code; iso currency code; three letter currency code; iso 4217 code; currency abbreviation*0.8; iso 4217
currency symbol: currency symbol; mark*0.6; currency sign; money sign; symbol*0.5; sign*0.7; money symbol
decimals: number of decimal places; decimal places; minor units; decimals; decimal digits; decimal*0.9; decimal point*0.8; subunits*0.6; digits after; places after; after the point*0.9; after the decimal point; digits come after; digits*0.5
language code: language code; iso 639-3 code; iso 639; three-letter language code; iso language code
language code 2: two-letter language code; iso 639-1 code; two letter language code; iso 639-1; two-letter code*0.6
language family: language family; linguistic family; family of languages; family; related to*0.5; belong*0.5; linguistic group*0.7; family of the language; classified*0.5; kind of language*0.7
language branch: language branch; branch; language group; language subgroup; subfamily; linguistic branch; subgroup
chemical symbol: chemical symbol; element symbol; symbol; abbreviation; abbreviated; abbreviate; stands for*0.7; letters*0.6; represented by*0.7; short form*0.7; denoted*0.7; written*0.6; shorthand*0.8; stand for*0.7; represent*0.6; letter*0.6; notation*0.7; formula*0.5
atomic number: atomic number; proton number; number of protons; protons; how many protons; number in the periodic table; place in the periodic table*0.7; position in the periodic table*0.7; element number; number element; proton
atomic mass: atomic mass; atomic weight; relative atomic mass; weigh*0.6; mass*0.5; weight*0.5; mass of an atom; atom weigh; heavy atom; atomic mass unit; one atom
group number: group; vertical line; vertical lines; vertical column; group number; column; periodic table group; column of the periodic table; vertical*0.6
period number: period; horizontal line; horizontal row; period number; row; periodic table period; row of the periodic table; horizontal*0.6
block: block; periodic table block; orbital block
category: category; element category; classified; classification; chemical series; kind of element; type of element; what kind*0.5; class*0.7; series*0.7; what type*0.5; family of elements; sort*0.5; what sort*0.5
melting point: melting point; melting temperature; melt; melts; fusion point; freezing point; liquefy*0.8; liquefies*0.8; liquid*0.5; become liquid; freeze*0.8; turn liquid; turn into a liquid; freezes*0.8; solidify*0.7; turns liquid; becomes liquid
boiling point: boiling point; boil; boils; boiling temperature; evaporate*0.8; vaporize; vaporization point; vaporise; become a gas*0.7; turn into gas; turn into a gas; vapour; become gas; becomes a gas; turns into a gas
electronegativity: electronegativity; electronegative; pauling; attract electrons
ionization energy: ionization energy; ionize; first ionization energy; ionization potential; remove an electron; ionise; strip an electron; remove the first electron; remove electron; take an electron
phase: phase; state of matter; physical state; phase at room temperature; solid liquid or gas; room temperature; aggregate state; liquid or solid; solid or liquid; a solid; a liquid; a gas; gaseous
electron configuration: electron configuration; electronic configuration; electron arrangement; electrons arranged; electron shells*0.7; arrangement of electrons; orbitals*0.6; configured*0.6; electrons configured
electron shells: electrons per shell; electron shells; shell configuration; in each shell; each shell; shells; electrons distributed; per shell
seat of government: seat of government; government seat; administrative capital; run from; governed from; administered from; parliament*0.7; ministries*0.7; government*0.6; run*0.5; governed*0.5; administered*0.5; government sit; government based; cabinet*0.7
registry number: cas number; cas registry number; cas; registry number; chemical abstracts
orbits: orbits; orbit; go around; goes around; revolve around; revolve*0.7; revolves around; circle*0.8; circles*0.8; parent body; host planet; moon of; moons of; satellite of; satellites of; central body; primary; circulate*0.7; travel around; move around; moves around; satellite*0.5; parent planet; rotate around; going around; around*0.5; loop*0.6; belong*0.5; companion*0.4
gravity: gravity; surface gravity; gravitational acceleration; gravitational pull; how strong is gravity; gravitational; pull*0.5
escape velocity: escape velocity; escape speed; escape; leave the gravity*0.7; break free; how fast to leave; get away from
orbital period: orbital period; revolution period; length of year; period of revolution; go around the sun; how long orbit; year*0.8; one orbit; complete an orbit; complete one orbit; orbit*0.6; revolve*0.7; travel around*0.7; how long year; circle*0.6; go around*0.6; full orbit; full revolution; orbit the sun; go once around; around the sun*0.7; one revolution; single orbit; lap*0.6; goes around*0.6
rotation period: rotation period; sidereal day; spin period; period of rotation; length of day; day*0.9; rotate; rotation; spin; spins; turn on its axis; one rotation; axis*0.7; turn around its axis; revolve around its axis; turn*0.5
sun distance: distance from the sun; mean distance from the sun; solar distance; semi-major axis; how far from the sun; far from the sun; away from the sun; sun*0.7; close to the sun; distance to the sun; from the sun
orbital distance: orbital distance; distance from its planet; orbital radius; how far from its planet; orbit*0.5; distance*0.6; how far*0.7; semi-major axis of the orbit; far*0.6; away*0.5; from its planet
satellites: number of moons; moon count; number of satellites; satellites; how many moons; how many satellites; moons; natural satellites
order: order from the sun; position from the sun; rank from the sun; order; rank; ordinal; position*0.7; which planet from the sun; place*0.5; how many planets from; nth planet; planet from the sun; number from the sun; planet out; from the inside; planet counting; planet*0.4
rings: rings; ring system; planetary rings; ring; ringed; surrounded by rings
kind: type; kind; class*0.7; sort; category*0.6; what kind*0.9; what type*0.9; classified*0.8; what sort*0.8
part of: part of; belongs to; belong; parent; member*0.5; include*0.6; contain*0.6; within*0.5; comprise*0.6; consist*0.6; belong to; larger region*0.8; subdivision*0.7; make up*0.8; made up of*0.8; split into*0.8; divided into*0.8; split*0.7; divide*0.7; divided*0.7; consist of*0.8; comprise*0.8; break down*0.6
start date: start date; hire date; hired; hire; joined; join; date of joining; started working; start working; started*0.8; start*0.7; came to*0.5; begin*0.6; begin working; since when; employed since; entry date; onboard
end date: end date; ended; end*0.7; deadline*0.7; finish*0.7; finished*0.7; due date*0.7
title: title; job title; position; called*0.4; headline*0.6
description: description; about*0.5; describe; summary*0.8
gender: gender; sex
religion: religion; faith; believe*0.6; religious
color: color; colour
material: material; made of; made from
award: award; prize; awarded; won*0.6; win*0.6; honor*0.6
political party: political party; party; affiliated*0.6
team: team; club; plays for; play for; side*0.4; squad
instrument: instrument; plays*0.5; play*0.5
sport: sport; game*0.6
subject: subject; topic; about*0.4; field*0.6; deals with*0.5; tags*0.4; keyword*0.5
quantity: quantity; stock; amount; inventory; in stock; how many*0.5; available*0.5
supplier: supplier; supplied by; supply; vendor; provider; provides*0.6
customer: customer; client; buyer; ordered by*0.6
brand: brand; make*0.5; manufacturer*0.7
floor: floor; storey; story*0.5; level*0.6; stories*0.6
room: room; office*0.7; desk*0.5
grade: grade; score; mark; rating; points*0.6; rated
symbol: symbol; sign; emblem; logo
code: code; number*0.5; id; identifier
skill: skill; skills; expertise; good at; knows*0.5; speciality; specialty
project: project; works on; work on; projects
opening hours: opening hours; open; hours; opens; close*0.6; business hours
)";

constexpr std::string_view person_kinds =
    "person; people; human; man; woman; scientist; author; writer; actor; actress; director; politician; "
    "employee; "
    "artist; musician; singer; composer; president; king; queen; player; athlete; chemist; physicist; "
    "astronomer; "
    "worker; staff; student; teacher; professor; engineer; founder; organization; organisation; company; "
    "team; "
    "member; customer; agent; laboratory; institute; manager; user; contact; discoverer";
constexpr std::string_view place_kinds =
    "place; city; town; village; country; nation; state; continent; region; province; location; county; "
    "district; "
    "municipality; island; territory; area; address; street; building; campus; office; site; world; planet; "
    "settlement; capital; hometown; birthplace; headquarters; room; floor";
constexpr std::string_view relation_verbs =
    "borders; orbits; contains; includes; produces; owns; employs; manages; supports; uses; makes; sells; "
    "plays; "
    "teaches; speaks; lives; knows; leads; runs; directs; follows; precedes; replaces; governs; operates; "
    "publishes; requires; reports; serves; works; has; crosses; influences; supplies; represents; belongs; "
    "adjoins; touches; loves; likes; studies; wrote; founded; created; invented; discovered; won; married";

constexpr LanguageData data = {
    function_words,
    light_words,
    irregular,
    {cue_person, cue_place, cue_time, cue_number, cue_count, cue_list, cue_boolean, cue_which, cue_definition,
     cue_superlative, cue_comparison, cue_filter, cue_negation, cue_polite, cue_opinion, cue_manner,
     cue_task},
    small_talk,
    concepts,
    person_kinds,
    place_kinds,
    relation_verbs,
};

}  // namespace

const LanguageData& english_data() { return data; }

}  // namespace askbase::qa
